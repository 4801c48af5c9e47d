import { visible } from '../model/visible.ts';

/**
 * Two paths, one below the other, with what they share aligned and a mark at the first difference.
 */
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

/** A state is a file, whose name may have anything in it. */
const onOneLine = (state: string) => visible(state).replaceAll('\n', '\\n');

type Row = readonly [string, string];

/** Rows of the longest common subsequence; what has no partner stands beside a dash. */
function aligned(a: readonly string[], b: readonly string[]): readonly Row[] {
  const start = commonStart(a, b);
  const head = a.slice(0, start).map((state): Row => [state, state]);
  const restA = a.slice(start, start + LONGEST);
  const restB = b.slice(start, start + LONGEST);
  return [...head, ...align(restA, restB)];
}

/** What lies further behind the first difference explains nothing. */
const LONGEST = 200;
const GAP = '-';

function commonStart(a: readonly string[], b: readonly string[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

function align(a: readonly string[], b: readonly string[]): readonly Row[] {
  // common[i][j]: how many states the rests of a from i and of b from j share, in order.
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
