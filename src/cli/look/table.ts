import { visible } from '../../model/visible.ts';
import { widthOf } from '../../observe/screen.ts';

export interface Column {
  readonly head: string;
  /** Aligned to the right, for numbers. */
  readonly isNumber?: boolean;
  /** Present if cells may be shortened to this width. */
  readonly least?: number;
  /** The part that a shortened cell lacks; its end by default. */
  readonly cut?: 'end' | 'middle';
  /** Left out if no row has a value in it. */
  readonly isOptional?: boolean;
}

/**
 * Lines with columns as wide as their widest cell, and two spaces between columns. If `room` is given,
 * columns that may be shortened are, so that the lines fit if possible.
 */
export function table(
  columns: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
  room?: number,
): readonly string[] {
  const clean = rows.map((row) => row.map((cell) => visible(cell).replace(/\s+/g, ' ')));
  const shown = columns
    .map((column) => (typeof column === 'string' ? { head: column } : column))
    .map((column, index) => ({ ...column, index }))
    .filter(({ isOptional, index }) => !isOptional || clean.some((row) => row[index]));
  const natural = shown.map(({ head, index }) =>
    clean.reduce((most, row) => Math.max(most, widthOf(row[index] ?? '')), widthOf(head)),
  );
  const widths = room === undefined ? natural : fitted(shown, natural, room);
  const line = (cells: readonly string[]) =>
    shown
      .map((column, i) => placed(cells[i] ?? '', widths[i] ?? 0, column))
      .join(GAP)
      .trimEnd();
  return [
    line(shown.map(({ head }) => head)),
    ...clean.map((row) => line(shown.map(({ index }) => row[index] ?? ''))),
  ];
}

const GAP = '  ';
const CUT = '...';

/** Takes from the widest column that can be shortened, repeatedly. */
function fitted(
  columns: readonly Column[],
  natural: readonly number[],
  room: number,
): readonly number[] {
  const widths = [...natural];
  const gaps = GAP.length * Math.max(0, widths.length - 1);
  let excess = widths.reduce((a, b) => a + b, gaps) - room;
  for (; excess > 0; excess -= 1) {
    let widest = -1;
    for (const [i, { least }] of columns.entries()) {
      const width = widths[i] ?? 0;
      if (least !== undefined && width > least && width > (widths[widest] ?? 0)) widest = i;
    }
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function placed(cell: string, width: number, { isNumber, cut = 'end' }: Column): string {
  const text = widthOf(cell) > width ? SHORTENED[cut](cell, width - CUT.length) : cell;
  const blank = ' '.repeat(Math.max(0, width - widthOf(text)));
  return isNumber ? blank + text : text + blank;
}

const SHORTENED = {
  end: (cell: string, room: number) => `${beginning(cell, room).trimEnd()}${CUT}`,
  middle: (cell: string, room: number) => {
    const reversed = Array.from(cell).reverse().join('');
    const end = Array.from(beginning(reversed, Math.floor(room / 2)))
      .reverse()
      .join('');
    return `${beginning(cell, room - widthOf(end))}${CUT}${end}`;
  },
};

function beginning(cell: string, room: number): string {
  let text = '';
  let left = room;
  for (const character of cell) {
    left -= widthOf(character);
    if (left < 0) break;
    text += character;
  }
  return text;
}
