import type { Position, TextPlace } from '../model/workflow.ts';

/** Converts offsets of a text to positions in its file. */
export function positionsIn(
  text: string,
  { line, column, indent }: Omit<TextPlace, 'file'>,
): (offset: number) => Position {
  if (indent === undefined) return () => ({ line, column });
  const starts = lineStarts(text);
  return (offset) => {
    const index = lastAtMost(starts, offset);
    const first = index === 0 ? column : indent;
    return { line: line + index, column: offset - (starts[index] ?? 0) + first };
  };
}

/** The offsets at which the lines of a text begin, from one of them on. */
export function lineStarts(
  text: string,
  from = 0,
  most = Number.POSITIVE_INFINITY,
): readonly number[] {
  const starts = [from];
  for (let at = text.indexOf('\n', from); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (starts.length >= most) break;
    starts.push(at + 1);
  }
  return starts;
}

/** The index of the last number that is not larger. */
export function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((sorted[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
