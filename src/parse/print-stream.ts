import { type ForwardSearch, forwardSearch } from './forward-search.ts';
import { isSpace } from './opening-tag.ts';
import { type PrintPiece, printPieces } from './print-pieces.ts';

interface PrintStream {
  push(chunk: string): readonly PrintPiece[];
  /** Nothing of the output so far belongs to a print, so text without `<` may be left out. */
  isIdle(): boolean;
  /** The output has ended: returns the rest of a print that was never closed. */
  end(): readonly PrintPiece[];
}

/**
 * Reads the bodies of `<print>` tags from an output while it arrives.
 *
 * The pieces depend only on the output, not on how it is cut into chunks. A line is given when it is
 * complete. A line longer than 4096 characters is given in parts, so that the stream holds back no more
 * than that. A print that is never closed is also shown, because this is not known in advance. The
 * stream looks only for prints, so it also shows a print in code or in the body of another tag.
 */
export function printStream(): PrintStream {
  const lines = printPieces();
  let position: Position = OUTSIDE;
  /** The end of the last chunk, if it may begin a tag. The next chunk decides. */
  let held = '';

  /** Holds back the rest of the text from here. */
  function hold(text: string, from: number): number {
    held = text.slice(from);
    return text.length;
  }

  function readText(text: string, at: number): number {
    const start = text.indexOf(OPENING, at);
    if (start < 0) return hold(text, text.length - partLength(text, at, OPENING));
    const nameEnd = start + OPENING.length;
    if (nameEnd === text.length) return hold(text, start);
    if (endsName(text.charCodeAt(nameEnd))) position = { in: 'opening', previous: 0 };
    return nameEnd;
  }

  function readOpening(text: string, from: number, beforeFrom: number): number {
    let previous = beforeFrom;
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === GREATER_THAN) {
        position = previous === SLASH ? OUTSIDE : BODY;
        return at + 1;
      }
      if (code === LESS_THAN) {
        position = OUTSIDE;
        return at;
      }
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        position = { in: 'value', quote: String.fromCharCode(code) };
        return at + 1;
      }
      previous = code;
    }
    position = { in: 'opening', previous };
    return text.length;
  }

  function readValue(text: string, at: number, quote: string): number {
    const end = text.indexOf(quote, at);
    if (end < 0) return text.length;
    position = { in: 'opening', previous: quote.charCodeAt(0) };
    return end + 1;
  }

  function readBody(text: string, at: number, nextNewline: ForwardSearch): number {
    const start = text.indexOf(CLOSING, at);
    if (start < 0) {
      const end = text.length - partLength(text, at, CLOSING);
      lines.add(text, at, end, nextNewline);
      return hold(text, end);
    }
    const end = closingSpaceEnd(text, start);
    if (end === text.length) {
      lines.add(text, at, start, nextNewline);
      return hold(text, start);
    }
    if (text.charCodeAt(end) !== GREATER_THAN) {
      lines.add(text, at, end, nextNewline);
      return end;
    }
    lines.add(text, at, start, nextNewline);
    lines.endPrint();
    position = OUTSIDE;
    return end + 1;
  }

  return {
    push(chunk) {
      const text = held + chunk;
      held = '';
      const nextNewline = forwardSearch(text, '\n');
      for (let at = 0; at < text.length; ) {
        if (position.in === 'text') at = readText(text, at);
        else if (position.in === 'opening') at = readOpening(text, at, position.previous);
        else if (position.in === 'value') at = readValue(text, at, position.quote);
        else at = readBody(text, at, nextNewline);
      }
      return lines.take();
    },
    isIdle: () => position.in === 'text' && held === '',
    end() {
      if (position.in === 'body') {
        lines.add(held, 0, held.length, forwardSearch(held, '\n'));
        lines.endPrint();
      }
      position = OUTSIDE;
      held = '';
      return lines.take();
    },
  };
}

type Position =
  | { readonly in: 'text' }
  /** After `<print`, outside attribute values. `previous` is the code of the last character. */
  | { readonly in: 'opening'; readonly previous: number }
  | { readonly in: 'value'; readonly quote: string }
  | { readonly in: 'body' };

const OUTSIDE: Position = { in: 'text' };
const BODY: Position = { in: 'body' };
const OPENING = '<print';
const CLOSING = '</print';
/** The stream does not wait for a closing tag with more space than this before its `>`. */
const LONGEST_CLOSING = 64;

const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

function endsName(code: number): boolean {
  return code === GREATER_THAN || code === SLASH || isSpace(code);
}

/** The length of the longest end of the text, after `from`, with which the tag may begin. */
function partLength(text: string, from: number, tag: string): number {
  const longest = Math.min(tag.length - 1, text.length - from);
  for (let length = longest; length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

function closingSpaceEnd(text: string, start: number): number {
  const latest = Math.min(text.length, start + LONGEST_CLOSING);
  let end = start + CLOSING.length;
  while (end < latest && isSpace(text.charCodeAt(end))) end += 1;
  return end;
}
