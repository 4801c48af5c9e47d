/** A piece of the body of a `<print>`: a line with its end, or less at the end of the print. */
export interface PrintPiece {
  readonly text: string;
  /** This piece is the last one of its print. Its text may be empty. */
  readonly done: boolean;
}

export interface PrintStream {
  push(chunk: string): readonly PrintPiece[];
  /** The output has ended: returns the rest of a print that was never closed. */
  end(): readonly PrintPiece[];
}

/**
 * Reads the bodies of `<print>` tags from an output while it arrives.
 *
 * The pieces depend only on the output, not on how it is cut into chunks. A line is given when it
 * is complete. A line longer than `LONGEST_PIECE` is given in parts, so that the stream holds back
 * no more than that. A print that is never closed is shown too, because this is not known in
 * advance. The stream looks only for prints, so it also shows a print in code or in the body of
 * another tag.
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
  /** `closing` is held back because it may become the closing tag. */
  | { readonly in: 'body'; readonly closing: string };

const OUTSIDE: Position = { in: 'text', matched: 0 };
const BODY: Position = { in: 'body', closing: '' };
const OPENING = '<print';
const CLOSING = '</print';
const SPACE = ' \n\t\r';
const LONGEST_PIECE = 4096;
/** The stream does not wait for a closing tag with more space than this before its `>`. */
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
