/**
 * Rows at the bottom of a terminal. They stay below everything that is written later: they are erased
 * and drawn again with relative cursor movements. No mode of the terminal changes, so a killed process
 * leaves nothing to restore. Unless the user types, the cursor rests on the empty row below, where the
 * prompt of a shell belongs.
 */
import { type Looks, onOneRow, type Piece, painted, widthOf } from './screen.ts';

export interface Row {
  readonly pieces: readonly PlacedPiece[];
  /** For the last row: the cursor rests behind this piece, because the user types here. */
  readonly cursorAfter?: number;
}

/** A piece with a column begins there, however wide the terminal draws earlier pieces. */
export interface PlacedPiece extends Piece {
  readonly column?: number;
}

export interface DrawnBlock {
  readonly rows: readonly { readonly text: string; readonly width: number }[];
  /** Whether the cursor is on the last row. */
  readonly isTyping: boolean;
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
  const { color, columns } = looks;
  const before = drawn?.rows ?? [];
  const shown = rows.map((row) => ({ text: rowText(row, color), width: rowWidth(row) }));
  // The rows do not move up. Later lines use the space.
  const free = rows.length > 0 ? before.length - shown.length - newlinesIn(above) : 0;
  const all = [...Array.from({ length: Math.max(0, free) }, () => EMPTY), ...shown];
  const isTyping = rows.at(-1)?.cursorAfter !== undefined;
  const after = all.length > 0 ? { rows: all, isTyping, columns } : undefined;
  const isSameShape =
    all.length === before.length && isTyping === drawn?.isTyping && columns === drawn.columns;
  if (above !== '' || !isSameShape) {
    const output = `${drawn ? erased(drawn, columns) : ''}${above}${joined(all, isTyping)}`;
    return { output, drawn: after };
  }
  const isOld = (i: number) => !whole && all[i]?.text === before[i]?.text;
  if (all.every((_, i) => isOld(i))) return { output: '', drawn };
  const changed = all.map(({ text }, i) => ({
    text: isOld(i) && !(isTyping && i === all.length - 1) ? '' : `${ERASE_ROW}${text}`,
  }));
  const output = `\r${UP.repeat(heightOf(drawn, columns))}${joined(changed, isTyping)}`;
  return { output, drawn: after };
}

const EMPTY = { text: '', width: 0 };
const UP = '\x1b[A';
const ERASE_ROW = '\x1b[2K';
const SAVE_CURSOR = '\x1b7';
const RESTORE_CURSOR = '\x1b8';

const newlinesIn = (text: string) => text.split('\n').length - 1;

/**
 * Row by row, because some terminals keep a screen in their history if it is erased in one step.
 */
function erased(drawn: DrawnBlock, columns: number | undefined): string {
  return `\r${ERASE_ROW}${`${UP}${ERASE_ROW}`.repeat(heightOf(drawn, columns))}`;
}

function joined(rows: readonly { readonly text: string }[], isTyping: boolean): string {
  if (rows.length === 0) return '';
  return rows.map(({ text }) => text).join('\n') + (isTyping ? '' : '\n');
}

/** From the cursor to the first row. Most terminals break the rows again when they become narrower. */
function heightOf({ rows, isTyping }: DrawnBlock, columns = Number.POSITIVE_INFINITY): number {
  const height = rows.reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0);
  return isTyping ? height - 1 : height;
}

function rowText({ pieces, cursorAfter }: Row, color: boolean): string {
  const text = pieces.map(({ text, tone, column }, i) => {
    const start = column === undefined ? '' : `\x1b[${column + 1}G`;
    return `${start}${painted(onOneRow(text), tone, color)}${i === cursorAfter ? SAVE_CURSOR : ''}`;
  });
  return `${text.join('')}${cursorAfter === undefined ? '' : RESTORE_CURSOR}`;
}

function rowWidth({ pieces }: Row): number {
  let width = 0;
  for (const { text, column = width } of pieces) width = column + widthOf(onOneRow(text));
  return width;
}
