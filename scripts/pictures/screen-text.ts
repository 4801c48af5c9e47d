/** A captured screen as rows of styled text. */

export interface Style {
  /** A number of the palette, or `#rrggbb`. */
  readonly ink?: number | string;
  readonly paper?: number | string;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
}

export interface Piece {
  readonly text: string;
  /** The first column, from 0. */
  readonly column: number;
  readonly width: number;
  readonly style: Style;
}

/** Reads what `tmux capture-pane -e -p` prints. The style continues from one row to the next. */
export function readScreen(captured: string): readonly (readonly Piece[])[] {
  let style: Style = {};
  return captured
    .replace(/\n+$/, '')
    .split('\n')
    .map((row) => {
      const pieces: Piece[] = [];
      let column = 0;
      for (const part of row.split(SEQUENCE)) {
        const codes = SELECT.exec(part)?.[1];
        if (codes !== undefined) style = changed(style, codes);
        if (part === '' || part.startsWith('\u001b')) continue;
        for (const text of runsOf(part)) {
          const width = columnsOf(text);
          pieces.push({ text, column, width, style });
          column += width;
        }
      }
      return pieces.filter(({ text, style }) => text.trim() !== '' || isFilled(style));
    });
}

/** One escape sequence. A capture has those for styles and, in newer versions, for links. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const SEQUENCE = /(\u001b\[[0-9;:]*m|\u001b\][^\u001b\u0007]*(?:\u001b\\|\u0007))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const SELECT = /^\u001b\[([0-9;:]*)m$/;

/** A wide gap starts a new piece, so that a font of another width does not move the next column. */
function runsOf(text: string): readonly string[] {
  return text.split(/( {2,})/).filter((run) => run !== '');
}

function isFilled({ paper, inverse, underline }: Style): boolean {
  return paper !== undefined || inverse === true || underline === true;
}

const ON: Readonly<Record<number, Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
};
const OFF: Readonly<Record<number, readonly (keyof Style)[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  39: ['ink'],
  49: ['paper'],
};

function changed(before: Style, codes: string): Style {
  let style = before;
  const list = codes === '' ? [0] : codes.split(/[;:]/).map(Number);
  for (let at = 0; at < list.length; at++) {
    const code = list[at] ?? 0;
    if (code === 0) style = {};
    else if (code === 38 || code === 48) {
      const { colour, length } = extended(list.slice(at + 1));
      style = { ...style, [code === 38 ? 'ink' : 'paper']: colour };
      at += length;
    } else style = plain(style, code);
  }
  return style;
}

function plain(style: Style, code: number): Style {
  const off = OFF[code];
  if (off) return Object.fromEntries(Object.entries(style).filter(([key]) => !isIn(off, key)));
  if (code >= 30 && code <= 37) return { ...style, ink: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, ink: code - 90 + 8 };
  if (code >= 40 && code <= 47) return { ...style, paper: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, paper: code - 100 + 8 };
  return { ...style, ...ON[code] };
}

function isIn(keys: readonly string[], key: string): boolean {
  return keys.includes(key);
}

/** `5;n` is a colour of 256, `2;r;g;b` is any. */
function extended([kind, a = 0, b = 0, c = 0]: readonly number[]) {
  if (kind === 5) return { colour: a < 16 ? a : colourOf256(a), length: 2 };
  return { colour: hex(a, b, c), length: 4 };
}

function colourOf256(n: number): string {
  const grey = 8 + (n - 232) * 10;
  if (n >= 232) return hex(grey, grey, grey);
  const level = (part: number) => (part === 0 ? 0 : 55 + part * 40);
  const index = n - 16;
  return hex(level(Math.floor(index / 36)), level(Math.floor(index / 6) % 6), level(index % 6));
}

function hex(...parts: readonly [number, number, number]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Letters of East Asia and emoji take two columns; marks that join a letter take none. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) {
    if (/\p{Mn}|\u200d|\ufe0f/u.test(char)) continue;
    columns += WIDE.test(char) ? 2 : 1;
  }
  return columns;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
