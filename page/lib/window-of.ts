/** Which rows of a long list are drawn, when rows have different heights. */
export interface Window {
  readonly first: number;
  /** The first row that is not drawn. */
  readonly end: number;
  /** The heights of the rows before and after them, in pixels. */
  readonly above: number;
  readonly below: number;
}

export function windowOf(
  heights: Readonly<Record<number, number>>,
  count: number,
  usual: number,
  view: { readonly top: number; readonly height: number },
): Window {
  const heightOf = (row: number) => heights[row] ?? usual;
  let [first, above] = [0, 0];
  while (first < count && above + heightOf(first) < view.top - SPARE) above += heightOf(first++);
  let [end, drawn] = [first, 0];
  while (end < count && above + drawn < view.top + view.height + SPARE) drawn += heightOf(end++);
  let below = 0;
  for (let row = end; row < count; row += 1) below += heightOf(row);
  return { first, end, above, below };
}

/** The place of a row, in pixels from the top. */
export function topOf(
  heights: Readonly<Record<number, number>>,
  row: number,
  usual: number,
): number {
  let top = 0;
  for (let at = 0; at < row; at += 1) top += heights[at] ?? usual;
  return top;
}

/** In pixels. So much more is drawn, so that scrolling shows no gaps. */
const SPARE = 600;
