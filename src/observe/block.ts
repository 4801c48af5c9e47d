/**
 * Rows at the bottom of a terminal. They stay below everything that is written later: they are erased
 * and drawn again with relative cursor movements. No mode of the terminal changes, so a killed process
 * leaves nothing to restore. Unless the user types, the cursor rests on the empty row below, where the
 * prompt of a shell belongs.
 */
import { inAscii, type Looks, onOneRow, type Piece, painted, widthOf } from './screen.ts';

export interface Row {
  readonly pieces: readonly PlacedPiece[];
  /** For one of the rows: the cursor rests behind this piece, because the user types here. */
  readonly cursorAfter?: number;
}

/** A piece with a column begins there, however wide the terminal draws earlier pieces. */
export interface PlacedPiece extends Piece {
  readonly column?: number;
}

export interface DrawnBlock {
  readonly rows: readonly { readonly text: string; readonly width: number }[];
  /** Where the user types: the row, and the text before the cursor. */
  readonly cursor: { readonly row: number; readonly before: string } | undefined;
  readonly columns: number | undefined;
}

export interface Drawing {
  /** Complete lines to write above the rows. */
  readonly above: string;
  readonly rows: readonly Row[];
  /** Draws all rows, also those that have not changed, because the user may have typed over them. */
  readonly whole: boolean;
}

/** The text that replaces the drawn block, and the block that is drawn afterwards. */
export function redraw(
  drawn: DrawnBlock | undefined,
  { above, rows, whole }: Drawing,
  looks: Looks,
): { readonly output: string; readonly drawn: DrawnBlock | undefined } {
  const { columns } = looks;
  const before = drawn?.rows ?? [];
  const shown = rows.map((row) => ({ text: rowText(row, looks), width: rowWidth(row) }));
  // The rows do not move up. Later lines use the space.
  const free = rows.length > 0 ? before.length - shown.length - newlinesIn(above) : 0;
  const all = [...Array.from({ length: Math.max(0, free) }, () => EMPTY), ...shown];
  const cursor = cursorIn(rows, all.length - rows.length, looks);
  const after = all.length > 0 ? { rows: all, cursor, columns } : undefined;
  const isSameShape =
    all.length === before.length &&
    cursor?.row === drawn?.cursor?.row &&
    columns === drawn?.columns;
  if (!drawn || above !== '' || !isSameShape) {
    const output = `${drawn ? erased(drawn, columns) : ''}${above}${joined(all, cursor)}`;
    return { output, drawn: after };
  }
  const isOld = (i: number) => !whole && all[i]?.text === before[i]?.text;
  if (all.every((_, i) => isOld(i)) && cursor?.before === drawn.cursor?.before)
    return { output: '', drawn };
  const changed = all.map(({ text }, i) => ({ text: isOld(i) ? '' : `${ERASE_ROW}${text}` }));
  const output = `\r${UP.repeat(heightOf(drawn, columns))}${joined(changed, cursor)}`;
  return { output, drawn: after };
}

const EMPTY = { text: '', width: 0 };
const UP = '\x1b[A';
const ERASE_ROW = '\x1b[2K';

const newlinesIn = (text: string) => text.split('\n').length - 1;

/**
 * Row by row, because some terminals keep a screen in their history if it is erased in one step.
 */
function erased(drawn: DrawnBlock, columns: number | undefined): string {
  const all = heightOf({ ...drawn, cursor: undefined }, columns);
  const last = drawn.cursor ? all - 1 : all;
  const down = '\n'.repeat(last - heightOf(drawn, columns));
  return `${down}\r${ERASE_ROW}${`${UP}${ERASE_ROW}`.repeat(last)}`;
}

/** The text before the cursor is written a second time: only the terminal knows how wide it is. */
function joined(rows: readonly { readonly text: string }[], cursor: DrawnBlock['cursor']): string {
  if (rows.length === 0) return '';
  const all = rows.map(({ text }) => text).join('\n');
  if (!cursor) return `${all}\n`;
  const below = rows.length - 1 - cursor.row;
  // Usually it is already there.
  if (below === 0 && rows.at(-1)?.text.endsWith(cursor.before)) return all;
  return `${all}\r${UP.repeat(below)}${cursor.before}`;
}

function cursorIn(rows: readonly Row[], offset: number, looks: Looks): DrawnBlock['cursor'] {
  const at = rows.findIndex(({ cursorAfter }) => cursorAfter !== undefined);
  const { pieces = [], cursorAfter = 0 } = rows[at] ?? {};
  if (at < 0) return undefined;
  return { row: offset + at, before: rowText({ pieces: pieces.slice(0, cursorAfter + 1) }, looks) };
}

/** From the cursor to the first row. Most terminals break the rows again when they become narrower. */
function heightOf({ rows, cursor }: DrawnBlock, columns = Number.POSITIVE_INFINITY): number {
  const above = cursor ? rows.slice(0, cursor.row) : rows;
  return above.reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0);
}

export function rowText({ pieces }: Pick<Row, 'pieces'>, { color, isAscii }: Looks): string {
  const text = pieces.map(({ text, tone, column }) => {
    const start = column === undefined ? '' : `\x1b[${column + 1}G`;
    const shown = isAscii ? inAscii(onOneRow(text)) : onOneRow(text);
    return `${start}${painted(shown, tone, color)}`;
  });
  return text.join('');
}

function rowWidth({ pieces }: Row): number {
  let width = 0;
  for (const { text, column = width } of pieces) width = column + widthOf(onOneRow(text));
  return width;
}
