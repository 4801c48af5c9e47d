import type { Position, TextPlace } from '../model/workflow.ts';

/** Converts offsets of a text to positions in its file. */
export function positionsIn(
  text: string,
  { line, column, indent }: Omit<TextPlace, 'file'>,
): (offset: number) => Position {
  if (indent === undefined) return () => ({ line, column });
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    const index = lastAtMost(starts, offset);
    const first = index === 0 ? column : indent;
    return { line: line + index, column: offset - (starts[index] ?? 0) + first };
  };
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((sorted[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
