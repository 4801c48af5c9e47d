import { visible } from '../model/visible.ts';

/** Two paths, one below the other. Their common states are aligned, and the first difference is marked. */
export function pathDifference(expected: readonly string[], got: readonly string[]): string {
  const rows = aligned(expected.map(onOneLine), got.map(onOneLine));
  const widths = rows.map(([a, b]) => Math.max(a.length, b.length));
  const line = (side: 0 | 1) => rows.map((row, i) => row[side].padEnd(widths[i] ?? 0)).join(' ');
  const first = rows.findIndex(([a, b]) => a !== b);
  const before = widths.slice(0, first).reduce((sum, width) => sum + width + 1, 0);
  return [
    `expected  ${line(0)}`.trimEnd(),
    `got       ${line(1)}`.trimEnd(),
    `          ${' '.repeat(before)}^`,
  ].join('\n');
}

/** The name of a state is the name of a file, which may contain any character. */
const onOneLine = (state: string) => visible(state).replaceAll('\n', '\\n');

type Row = readonly [string, string];

/** Rows of the longest common subsequence. A state without a partner is beside a dash. */
function aligned(a: readonly string[], b: readonly string[]): readonly Row[] {
  const start = commonStart(a, b);
  const head = a.slice(0, start).map((state): Row => [state, state]);
  const restA = a.slice(start, start + LONGEST);
  const restB = b.slice(start, start + LONGEST);
  return [...head, ...align(restA, restB)];
}

/** States far behind the first difference explain nothing. */
const LONGEST = 200;
const GAP = '-';

function commonStart(a: readonly string[], b: readonly string[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

function align(a: readonly string[], b: readonly string[]): readonly Row[] {
  // common[i][j]: the number of states that a from i and b from j share, in order.
  const common = Array.from({ length: a.length + 1 }, () =>
    new Array<number>(b.length + 1).fill(0),
  );
  const shared = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const best =
        a[i] === b[j] ? shared(i + 1, j + 1) + 1 : Math.max(shared(i + 1, j), shared(i, j + 1));
      common[i]?.splice(j, 1, best);
    }
  }
  const rows: Row[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      rows.push([left, left]);
      i += 1;
      j += 1;
    } else if (
      right === undefined ||
      (left !== undefined && shared(i + 1, j) >= shared(i, j + 1))
    ) {
      rows.push([left ?? GAP, GAP]);
      i += 1;
    } else {
      rows.push([GAP, right]);
      j += 1;
    }
  }
  return rows;
}
