import { visible } from '../model/visible.ts';

/** Two paths, one below the other. The first difference is marked. A missing state is a dash. */
export function pathDifference(expected: readonly string[], got: readonly string[]): string {
  const longer = expected.length > got.length ? expected : got;
  const first = longer.findIndex((_, at) => expected[at] !== got[at]);
  const rows = longer
    .slice(0, first + LONGEST)
    .map((_, at) => [expected[at] ?? GAP, got[at] ?? GAP].map(onOneLine));
  const widths = rows.map((row) => Math.max(...row.map((state) => state.length)));
  const line = (side: number) =>
    rows.map((row, at) => row[side]?.padEnd(widths[at] ?? 0)).join(' ');
  const before = widths.slice(0, first).reduce((sum, width) => sum + width + 1, 0);
  return [
    `expected  ${line(0)}`.trimEnd(),
    `got       ${line(1)}`.trimEnd(),
    `          ${' '.repeat(before)}^`,
  ].join('\n');
}

/** The name of a state is the name of a file, which may contain any character. */
const onOneLine = (state: string) => visible(state).replaceAll('\n', '\\n');

/** States far behind the first difference explain nothing. */
const LONGEST = 200;
const GAP = '-';
