/** A piece of what `<print>` shows: a line with its end, or less where the print ends. */
export interface PrintPiece {
  readonly text: string;
  /** This piece is the last one of its print. Its text may be empty. */
  readonly done: boolean;
}

export interface PrintStream {
  push(chunk: string): readonly PrintPiece[];
  /** The output has ended: gives what is left of a print that was never closed. */
  end(): readonly PrintPiece[];
}

/**
 * Reads the bodies of `<print>` tags from an output while it arrives.
 *
 * The pieces depend on the output alone, not on how it is cut into chunks. A line is given when it
 * is complete, and a line that grows beyond `LONGEST_PIECE` is given in parts, so that no more than
 * that is held back. A print that is never closed is shown too: nobody can know that beforehand.
 * Only prints are looked for, so one inside the body of another tag, or in code, is shown as well.
 */
export function printStream(): PrintStream {
  let position: Position = OUTSIDE;
  let line = '';
  let pieces: PrintPiece[] = [];

  function read(char: string): void {
    if (position.in === 'text') position = afterText(position.matched, char);
    else if (position.in === 'opening') position = afterOpening(position.previous, char);
    else if (position.in === 'body') readBody(position.closing, char);
    else if (char === position.quote) position = { in: 'opening', previous: char };
  }

  function readBody(closing: string, char: string): void {
    if (continuesClosing(closing, char)) {
      position = { in: 'body', closing: closing + char };
    } else if (char === '>' && closing.startsWith(CLOSING)) {
      position = OUTSIDE;
      give(true);
    } else {
      for (const held of closing) show(held);
      position = BODY;
      if (char === '<') position = { in: 'body', closing: char };
      else show(char);
    }
  }

  function show(char: string): void {
    line += char;
    const isFull = line.length >= LONGEST_PIECE && !isHighSurrogate(char);
    if (char === '\n' || isFull) give(false);
  }

  function give(done: boolean): void {
    pieces.push({ text: line, done });
    line = '';
  }

  function takePieces(): readonly PrintPiece[] {
    const taken = pieces;
    pieces = [];
    return taken;
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length; at += 1) read(chunk.charAt(at));
      return takePieces();
    },
    end() {
      if (position.in === 'body') {
        for (const held of position.closing) show(held);
        give(true);
      }
      position = OUTSIDE;
      return takePieces();
    },
  };
}

type Position =
  /** Outside prints; `matched` characters of `<print` have just been read. */
  | { readonly in: 'text'; readonly matched: number }
  /** After `<print`, outside attribute values. */
  | { readonly in: 'opening'; readonly previous: string }
  | { readonly in: 'value'; readonly quote: string }
  /** `closing` is held back, for it may become the closing tag. */
  | { readonly in: 'body'; readonly closing: string };

const OUTSIDE: Position = { in: 'text', matched: 0 };
const BODY: Position = { in: 'body', closing: '' };
const OPENING = '<print';
const CLOSING = '</print';
const SPACE = ' \n\t\r';
const LONGEST_PIECE = 4096;
/** With more space than this before its `>`, a closing tag is not waited for. */
const LONGEST_CLOSING = 64;

function afterText(matched: number, char: string): Position {
  if (matched === OPENING.length) {
    if (char === '>' || char === '/' || SPACE.includes(char)) return afterOpening('', char);
  } else if (char === OPENING[matched]) {
    return { in: 'text', matched: matched + 1 };
  }
  return char === '<' ? { in: 'text', matched: 1 } : OUTSIDE;
}

function afterOpening(previous: string, char: string): Position {
  if (char === '>') {
    return previous === '/' ? OUTSIDE : BODY;
  }
  if (char === '<') return { in: 'text', matched: 1 };
  if (char === '"' || char === "'") return { in: 'value', quote: char };
  return { in: 'opening', previous: char };
}

function continuesClosing(closing: string, char: string): boolean {
  if (closing.length < CLOSING.length) return char === CLOSING[closing.length];
  return closing.length < LONGEST_CLOSING && SPACE.includes(char);
}

function isHighSurrogate(char: string): boolean {
  const code = char.charCodeAt(0);
  return code >= 0xd800 && code <= 0xdbff;
}
