import { visible } from '../model/visible.ts';

/** Lines with columns as wide as their widest cell, and two spaces between columns. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const clean = [head, ...rows].map((row) => row.map((cell) => visible(cell).replace(/\s+/g, ' ')));
  const widths = head.map((_, column) =>
    clean.reduce((most, row) => Math.max(most, width(row[column] ?? '')), 0),
  );
  return clean.map((row) =>
    row
      .map((cell, i) => pad(cell, widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const width = (text: string) => Array.from(text).length;
const pad = (text: string, to: number) => text + ' '.repeat(Math.max(0, to - width(text)));
