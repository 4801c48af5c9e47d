import type { Item, Link, Rows } from './row-items.ts';

/**
 * Assigns an x to every item, so that many lines are straight. The order in each row stays. In each pass
 * every row follows the one before it. The best state of all passes is kept.
 */
export function straightenRows({ items: rows, lines }: Rows): void {
  for (const row of rows) spreadOut(row);
  const items = rows.flat();
  const roomOf = roomIn(rows);
  const places = () => items.map(({ x }) => x);
  const moveTo = (xs: readonly number[]) => {
    for (const [index, item] of items.entries()) item.x = xs[index] ?? item.x;
  };
  let best = { cost: Number.POSITIVE_INFINITY, xs: places() };
  for (let pass = 0; pass < PASSES && best.cost > 0; pass++) {
    const isDown = pass % 2 === 0;
    for (const row of isDown ? rows : rows.toReversed()) settle(row, isDown ? 'up' : 'down');
    const settled = places();
    for (let round = 0; round < ROUNDS; round++) {
      // In both orders, because an item may have to wait until its neighbour makes room.
      const isForward = round % 2 === 0;
      for (const { stops } of isForward ? lines : lines.toReversed()) straighten(stops, roomOf);
      for (const item of isForward ? items : items.toReversed()) {
        if (item.isNode) centre(item, roomOf);
      }
    }
    const cost = costOf(items);
    if (cost < best.cost) best = { cost, xs: places() };
    moveTo(settled);
  }
  moveTo(best.xs);
}

const [PASSES, ROUNDS] = [12, 6];

/** Side by side, around the middle. */
function spreadOut(row: readonly Item[]): void {
  const offsets = offsetsIn(row);
  const middle = (offsets.at(-1) ?? 0) / 2;
  for (const [index, item] of row.entries()) item.x = (offsets[index] ?? 0) - middle;
}

/** The smallest distance of each item from the first one. */
function offsetsIn(row: readonly Item[]): readonly number[] {
  let offset = 0;
  return row.map((item, index) => {
    const before = row[index - 1];
    if (before) offset += distance(before, item);
    return offset;
  });
}

/** Long lines choose their places first, then the nodes with the most lines. */
function settle(row: readonly Item[], towards: 'up' | 'down'): void {
  const offsets = offsetsIn(row);
  const isSettled = row.map(() => false);
  const placeBeside = (other: number, index: number) =>
    (row[other]?.x ?? 0) + (offsets[index] ?? 0) - (offsets[other] ?? 0);
  const order = row
    .map((item, index) => ({ item, index, priority: priorityOf(item, item[towards]) }))
    .sort((a, b) => b.priority - a.priority);
  for (const { item, index } of order) {
    const before = isSettled.lastIndexOf(true, index);
    const after = isSettled.indexOf(true, index);
    item.x = clamped(
      wantedAt(item, item[towards]),
      before < 0 ? Number.NEGATIVE_INFINITY : placeBeside(before, index),
      after < 0 ? Number.POSITIVE_INFINITY : placeBeside(after, index),
    );
    isSettled[index] = true;
  }
}

function priorityOf({ isNode }: Item, links: readonly Link[]): number {
  return links.reduce((sum, { weight }) => sum + weight, isNode ? 0 : 1_000);
}

/** The median of its neighbours: half of its lines are on each side. */
function wantedAt(item: Item, near: readonly Link[]): number {
  const links = near.toSorted((a, b) => a.item.x - b.item.x);
  const half = links.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let passed = 0;
  for (const [index, link] of links.entries()) {
    passed += link.weight;
    if (passed > half) return link.item.x;
    if (passed === half) return (link.item.x + (links[index + 1]?.item.x ?? link.item.x)) / 2;
  }
  return item.x;
}

/**
 * Assigns one x to all stops of a line, if one is free in all of its rows. It prefers the x of the end that
 * has fewer lines, so that lines part beside a busy node and not far from it.
 */
function straighten(line: readonly Item[], roomOf: RoomOf): void {
  const rooms = line.map(roomOf);
  const low = Math.max(...rooms.map(([from]) => from));
  const high = Math.min(...rooms.map(([, to]) => to));
  const [upper, lower] = [line[0]?.up[0]?.item, line.at(-1)?.down[0]?.item];
  if (low > high || !upper || !lower) return;
  const own = line.map(({ x }) => x).sort((a, b) => a - b)[Math.floor(line.length / 2)] ?? 0;
  const ends = [touching(upper, own), touching(lower, own)];
  const wanted = upper.down.length <= lower.up.length ? ends : ends.reverse();
  let best = { x: own, cost: Number.POSITIVE_INFINITY };
  for (const place of [...wanted, own]) {
    const x = clamped(place, low, high);
    const cost = shiftCost(upper, { x }) + shiftCost({ x }, lower);
    if (cost < best.cost) best = { x, cost };
  }
  for (const item of line) item.x = best.x;
}

/** The place nearest to x at which a line can touch a node. */
function touching(node: Item, x: number): number {
  return clamped(x, node.x - slackOf(node), node.x + slackOf(node));
}

function centre(item: Item, roomOf: RoomOf): void {
  item.x = clamped(wantedAt(item, [...item.up, ...item.down]), ...roomOf(item));
}

/** The places between its neighbours. */
type RoomOf = (item: Item) => readonly [low: number, high: number];

function roomIn(rows: readonly (readonly Item[])[]): RoomOf {
  return (item) => {
    const [before, after] = [rows[item.row]?.[item.place - 1], rows[item.row]?.[item.place + 1]];
    return [
      before ? before.x + distance(before, item) : Number.NEGATIVE_INFINITY,
      after ? after.x - distance(item, after) : Number.POSITIVE_INFINITY,
    ];
  };
}

function distance(before: Item, after: Item): number {
  const gap = before.isNode && after.isNode ? NODE_GAP : LINE_GAP;
  return before.right + gap + after.left;
}

const [NODE_GAP, LINE_GAP] = [26, 13];

/** The length of all shifts. Each of them costs extra, because a bend is hard to follow. */
function costOf(items: readonly Item[]): number {
  let cost = 0;
  for (const item of items) {
    for (const { item: next, weight } of item.down) cost += weight * shiftCost(item, next);
  }
  return cost;
}

type Place = Pick<Item, 'x'> & Partial<Item>;

function shiftCost(upper: Place, lower: Place): number {
  const shift = Math.abs(upper.x - lower.x) - slackOf(upper) - slackOf(lower);
  return shift > 0.5 ? shift + BEND : 0;
}

const BEND = 40;

/** How far from the middle of a node a line may touch it. */
function slackOf({ isNode = false, left = 0, right = 0 }: Place): number {
  return isNode ? Math.min(left, right) / 2 : 0;
}

function clamped(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
