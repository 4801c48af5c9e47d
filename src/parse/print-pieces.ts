import type { ForwardSearch } from './forward-search.ts';

/** A piece of the body of a `<print>`: a line with its end, or less at the end of the print. */
export interface PrintPiece {
  readonly text: string;
  /** This piece is the last one of its print. Its text may be empty. */
  readonly done: boolean;
}

/** Cuts the bodies of prints into pieces. */
export function printPieces() {
  let pieces: PrintPiece[] = [];
  /** The beginning of a line that is not complete yet. */
  let line = '';

  function give(text: string, done: boolean): void {
    pieces.push({ text: line + text, done });
    line = '';
  }

  return {
    /** Adds a part of the text to the print's body. */
    add(text: string, from: number, to: number, nextNewline: ForwardSearch): void {
      let at = from;
      while (at < to) {
        const lineEnd = nextNewline(at) + 1;
        const full = fullPieceEnd(text, at, LONGEST_PIECE - line.length);
        const end = Math.min(lineEnd, full);
        if (end > to) {
          line += text.slice(at, to);
          return;
        }
        give(text.slice(at, end), false);
        at = end;
      }
    },
    endPrint(): void {
      give('', true);
    },
    take(): readonly PrintPiece[] {
      const taken = pieces;
      pieces = [];
      return taken;
    },
  };
}

/**
 * The texts of pieces that arrived together. Whole lines of one print are one text: a script may
 * print a million of them.
 */
export function printedTexts(pieces: readonly PrintPiece[]): readonly string[] {
  const texts: string[] = [];
  let parts: string[] = [];
  const give = () => {
    const text = parts.join('');
    if (text !== '') texts.push(text);
    parts = [];
  };
  for (const { text, done } of pieces) {
    parts.push(text);
    // The next piece begins a new line on the screen.
    if (done || !text.endsWith('\n')) give();
  }
  give();
  return texts;
}

/** A longer line is emitted in parts. */
const LONGEST_PIECE = 4096;

/** Where a piece is long enough to be emitted. Never cuts a surrogate pair. */
function fullPieceEnd(text: string, from: number, room: number): number {
  let end = from + Math.max(1, room);
  while (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
  return end;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
