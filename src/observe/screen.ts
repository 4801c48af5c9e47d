/**
 * Formats text for a screen or a log. Text is cleaned first and coloured afterwards, so that no
 * text brings its own escape codes. A line that does not begin with a bar is from Raymond.
 */
import { visible } from '../model/visible.ts';

/** `accent` marks what the keys of the user act on, and `strong` a name that belongs to all of a screen. */
export type Tone = 'plain' | 'good' | 'warning' | 'bad' | 'faint' | 'detail' | 'accent' | 'strong';

/** One line from Raymond. */
export type Text = string | readonly Piece[];

export interface Piece {
  readonly text: string;
  readonly tone: Tone;
}

export interface Looks {
  readonly color: boolean;
  /** The width of the screen; a log has none. */
  readonly columns?: number | undefined;
  /** The terminal has no other characters. */
  readonly isAscii?: boolean;
}

/**
 * Formats a line from Raymond. A newline in it belongs to untrusted text, so the text after it is
 * marked. Text that does not fit the row is indented, so that it cannot begin a row.
 */
export function ownLine(text: Text, { color, columns }: Looks): string {
  const pieces = typeof text === 'string' ? [{ text, tone: 'plain' } as const] : text;
  const lead = pieces.slice(0, -1);
  const { text: words = '', tone = 'plain' } = pieces.at(-1) ?? {};
  const before = lead.map((piece) => onOneRow(piece.text)).join('');
  const shownBefore = lead
    .map((piece) => painted(onOneRow(piece.text), piece.tone, color))
    .join('');
  const shown = visible(words);
  // Almost every line of a log.
  if (columns === undefined && !shown.includes('\n'))
    return `${shownBefore}${painted(shown, tone, color)}\n`;
  const indentation = /^ */.exec(before || words)?.[0] ?? '';
  const mark = `${indentation}${INDENTATION}${BAR}`;

  const isWide = roomBehind(before, columns) < LEAST_ROOM;
  const hang = before === '' || isWide ? `${indentation}${HANGING}` : blank(before);
  const [first = '', ...others] = linesOf(shown);
  // Each row has its own colour, so that it can be shown without the row before it.
  const inTone = (row: string) => painted(row, tone, color);
  const own = rowsOf(first, roomBehind(hang, columns)).map(inTone).join(`\n${hang}`);
  const marked = others.flatMap((line) => rowsOf(line, roomBehind(mark, columns))).map(inTone);
  const start = isWide && before !== '' ? `${shownBefore}\n${hang}` : shownBefore;
  return `${start}${[own, ...marked].join(`\n${mark}`)}\n`;
}

export interface Quote {
  readonly text: string;
  /** The text before the bar of each line. */
  readonly lead?: string;
  readonly tone?: Tone;
  readonly barTone?: Tone;
}

/** Formats untrusted text: each of its lines is marked, and on a screen each row. */
export function quotedLines(quote: Quote, { color, columns }: Looks): string {
  const { text, lead = INDENTATION, tone = 'plain', barTone = 'plain' } = quote;
  const before = onOneRow(lead);
  const room = roomBehind(`${before}${BAR}`, columns);
  // A lead that leaves no room gets its own row.
  if (room < LEAST_ROOM && lead !== INDENTATION)
    return `${before}\n${quotedLines({ text, tone }, { color, columns })}`;
  return linesOf(visible(text))
    .flatMap((line) => rowsOf(line, room).map((row, i) => [i === 0 ? before : blank(before), row]))
    .map(([start = '', row = '']) => {
      const shown = start.trim() === '' ? start : painted(start, 'faint', color);
      return `${shown}${painted(BAR, barTone, color)}${painted(row, tone, color)}\n`;
    })
    .join('');
}

/** A line from Raymond, or untrusted text: a part of a longer text for a person. */
export type Part =
  | { readonly kind: 'line'; readonly text: Text }
  | { readonly kind: 'quote'; readonly text: string; readonly tone?: Tone };

/** The rows of a part on a screen. */
export function partRows(part: Part, looks: Looks): readonly string[] {
  const shown =
    part.kind === 'line'
      ? ownLine(part.text, looks)
      : quotedLines({ text: part.text, tone: part.tone ?? 'plain', barTone: 'faint' }, looks);
  return shown.slice(0, -1).split('\n');
}

/** The characters that Raymond draws with. None becomes wider. */
export function inAscii(text: string): string {
  return text.replace(/[●○↻✗✓❯‹…·─]/g, (drawn) => IN_ASCII[drawn] ?? drawn);
}

const IN_ASCII: Readonly<Record<string, string>> = {
  '●': '*',
  '○': '-',
  '↻': '~',
  '✗': 'x',
  '✓': '+',
  '❯': '>',
  '‹': '<',
  '…': '..',
  '·': '-',
  '─': '-',
};

/** The largest possible width in cells: characters that may take two cells count as two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** The lines of a text. A newline at its end does not start another line. */
function linesOf(text: string): readonly string[] {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end).split('\n');
}

/** One line of a screen. */
export const onOneRow = (text: string) => visible(text).replaceAll('\n', ' ');

const INDENTATION = '  ';
const HANGING = '    ';
const BAR = '| ';
const LEAST_ROOM = 20;

function roomBehind(mark: string, columns = Number.POSITIVE_INFINITY): number {
  return Math.max(1, columns - widthOf(mark));
}

const blank = (text: string) => ' '.repeat(widthOf(text));

/**
 * Breaks a line where the terminal would break it, or at a space nearby, so that each row has its
 * mark.
 */
function rowsOf(line: string, room: number): readonly string[] {
  if (room === Number.POSITIVE_INFINITY) return [line];
  const rows: string[] = [];
  let row = '';
  let width = 0;
  let space = 0;
  for (const character of line) {
    if (row !== '' && width + cellsOf(character) > room) {
      const end = space > row.length / 2 ? space : row.length;
      rows.push(row.slice(0, end));
      row = row.slice(end);
      width = widthOf(row);
      space = 0;
    }
    row += character;
    width += cellsOf(character);
    if (character === ' ') space = row.length;
  }
  return [...rows, row];
}

const WIDE = 0x1100;
const TAB_CELLS = 8;

function cellsOf(character: string): number {
  if (character === '\t') return TAB_CELLS;
  return (character.codePointAt(0) ?? 0) < WIDE ? 1 : 2;
}

export function painted(text: string, tone: Tone, color: boolean): string {
  if (!color) return text;
  const [open, close] = COLORS[tone];
  return `${open}${text}${close}`;
}

const COLORS: Readonly<Record<Tone, readonly [string, string]>> = {
  plain: ['', ''],
  good: ['\x1b[32m', '\x1b[39m'],
  warning: ['\x1b[33m', '\x1b[39m'],
  bad: ['\x1b[31m', '\x1b[39m'],
  faint: ['\x1b[2m', '\x1b[22m'],
  detail: ['\x1b[2m', '\x1b[22m'],
  accent: ['\x1b[36m', '\x1b[39m'],
  strong: ['\x1b[1m', '\x1b[22m'],
};
