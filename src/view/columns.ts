import type { Widest } from './view.ts';

export interface Column {
  readonly start: number;
  readonly cells: number;
}

/** A screen that is too narrow has no room for some columns. */
export type Columns = Readonly<Partial<Record<Name, Column>>>;

const NAMES = ['chosen', 'mark', 'who', 'state', 'doing', 'cost', 'elapsed'] as const;
type Name = (typeof NAMES)[number];

/** Where each column begins, and how much room it has. */
export function columnsFor(
  width: number,
  widest: Widest,
  numbers: readonly { readonly elapsed: string; readonly cost: string }[],
): Columns {
  const longest = (name: 'elapsed' | 'cost') =>
    numbers.reduce((most, row) => Math.max(most, row[name].length), LEAST[name]);
  const hasCost = numbers.some(({ cost }) => cost !== '');
  const cost = hasCost && width >= WITH_COST ? longest('cost') : 0;
  const elapsed = width >= WITH_ELAPSED ? longest('elapsed') : 0;
  const marks = width >= WITH_MARKS ? MARK : 0;
  const room = width - 2 * marks - used(cost) - used(elapsed);
  const doing = room >= WITH_DOING;
  // The name with its variables is cut last.
  const leastState =
    room - used(LEAST_STATE) < Math.min(widest.who, LEAST_WHO)
      ? 0
      : orNone(Math.min(widest.state, LEAST_STATE));
  const spareForWho = room - used(leastState) - (doing ? used(LEAST_DOING) : 0);
  const who = Math.min(widest.who, Math.max(Math.floor(room * WHO_PART), spareForWho));
  const spareForState = room - used(who) - (doing ? used(ENOUGH_DOING) : 0);
  const state =
    leastState === 0
      ? 0
      : orNone(Math.min(widest.state, Math.max(leastState, spareForState), room - used(who)));
  const rest = { who, state, doing: doing ? room - used(who) - used(state) : 0, elapsed, cost };
  const cells = { chosen: marks, mark: marks, ...rest };
  let start = 0;
  const columns: Partial<Record<Name, Column>> = {};
  for (const name of NAMES) {
    if (cells[name] < 1) continue;
    columns[name] = { start, cells: cells[name] };
    start += name === 'chosen' || name === 'mark' ? MARK : used(cells[name]);
  }
  return columns;
}

export const GAP = 2;
const used = (cells: number) => (cells > 0 ? cells + GAP : 0);

/** A text that is cut shorter cannot be understood. */
const orNone = (cells: number) => (cells < 4 ? 0 : cells);

/** A mark has one cell, and may have two. */
const MARK = 2;
const LEAST = { elapsed: 5, cost: 5 };
const WITH_COST = 70;
const WITH_MARKS = 40;
const WITH_ELAPSED = 36;
const WITH_DOING = 30;
const LEAST_WHO = 10;
const LEAST_STATE = 7;
const LEAST_DOING = 12;
const ENOUGH_DOING = 22;
/** The name has at least this share of the room for texts. */
const WHO_PART = 0.45;
