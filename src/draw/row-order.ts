import type { Item, Rows } from './row-items.ts';

/**
 * Orders the items of each row, so that few lines cross. In each pass every row follows the one
 * before it: an item goes to the mean place of its neighbours. The best order of all passes is kept.
 */
export function orderRows({ items: rows }: Rows): void {
  const links = rows.flat().reduce((sum, { down }) => sum + down.length, 0);
  let best = { crossings: crossingsIn(rows), rows: rows.map((row) => [...row]) };
  for (
    let pass = 0, sinceBest = 0;
    pass < PASSES && best.crossings > 0 && sinceBest < PATIENCE;
    pass++
  ) {
    const isDown = pass % 2 === 0;
    // Half of the passes reverse items with equal places, because another order may be better.
    const turns = pass % 4 >= 2;
    for (const row of isDown ? rows : rows.toReversed()) {
      sortRow(row, isDown ? 'up' : 'down', turns);
    }
    if (links < MOST_SWAPPED) for (const row of rows) swapNeighbours(row);
    const crossings = crossingsIn(rows);
    sinceBest = crossings < best.crossings ? 0 : sinceBest + 1;
    if (crossings < best.crossings) best = { crossings, rows: rows.map((row) => [...row]) };
  }
  for (const [index, row] of best.rows.entries()) arrange(rows[index] ?? [], row);
}

const [PASSES, PATIENCE] = [40, 10];
/** Swapping compares all lines of two neighbours. */
const MOST_SWAPPED = 2_000;

function arrange(row: Item[], order: readonly Item[]): void {
  for (const [place, item] of order.entries()) {
    row[place] = item;
    item.place = place;
  }
}

function sortRow(row: Item[], towards: 'up' | 'down', turns: boolean): void {
  const wanted = new Map(row.map((item) => [item, meanPlace(item, towards)]));
  arrange(
    row,
    (turns ? row.toReversed() : row).toSorted(
      (a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0),
    ),
  );
}

function meanPlace(item: Item, towards: 'up' | 'down'): number {
  const links = item[towards];
  if (links.length === 0) return item.place;
  return links.reduce((sum, link) => sum + link.item.place, 0) / links.length;
}

function swapNeighbours(row: Item[]): void {
  for (let round = 0, hasChanged = true; hasChanged && round < row.length; round++) {
    hasChanged = false;
    for (let place = 1; place < row.length; place++) {
      const [left, right] = [row[place - 1], row[place]];
      if (!left || !right || crossingsOf(left, right) <= crossingsOf(right, left)) continue;
      row[place - 1] = right;
      row[place] = left;
      right.place = place - 1;
      left.place = place;
      hasChanged = true;
    }
  }
}

/** The crossings of the lines of two neighbours. */
function crossingsOf(left: Item, right: Item): number {
  let count = 0;
  for (const towards of ['up', 'down'] as const) {
    for (const { item: a } of left[towards]) {
      for (const { item: b } of right[towards]) if (a.place > b.place) count++;
    }
  }
  return count;
}

function crossingsIn(rows: readonly (readonly Item[])[]): number {
  return rows.reduce((sum, row) => sum + crossingsBelow(row), 0);
}

/** Counts pairs of lines in the wrong order, with a tree of sums (Fenwick). */
function crossingsBelow(row: readonly Item[]): number {
  const ends = row.flatMap(({ down }) => down.map(({ item }) => item.place).sort((a, b) => a - b));
  const size = Math.max(0, ...ends.map((end) => end + 1));
  const sums = new Array<number>(size + 1).fill(0);
  let crossings = 0;
  for (const [index, end] of ends.entries()) {
    let notRight = 0;
    for (let at = end + 1; at > 0; at -= at & -at) notRight += sums[at] ?? 0;
    crossings += index - notRight;
    for (let at = end + 1; at <= size; at += at & -at) sums[at] = (sums[at] ?? 0) + 1;
  }
  return crossings;
}
