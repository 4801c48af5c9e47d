import type { OutputText } from '../model/tag.ts';
import { forwardSearch } from './forward-search.ts';

interface Region {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds markdown code: fenced blocks, indented to any depth, and inline code spans, as CommonMark
 * defines them outside quotes.
 *
 * The returned function gives the first region that opens at or after `from` and ahead of `before`.
 * It does not look at the text before `from`, so a caller can skip text whose backticks mean
 * nothing. `from` must never decrease: this keeps the search linear.
 */
export function codeRegions(
  text: OutputText,
): (from: number, before: number) => Region | undefined {
  const nextBacktick = forwardSearch(text, '`');
  const nextTildes = forwardSearch(text, '~~~');
  const codeSpan = codeSpans(text);
  return (from, before) => {
    let at = from;
    for (;;) {
      at = Math.min(nextBacktick(at), nextTildes(at));
      if (at >= before) return undefined;
      if (isEscaped(text, at, from)) {
        at += 1;
        continue;
      }
      const length = runLength(text, at);
      if (opensFence(text, at, length)) return fencedBlock(text, at, length);
      const span = text.charCodeAt(at) === BACKTICK ? codeSpan(at, length) : undefined;
      if (span !== undefined) return span;
      at += length;
    }
  };
}

const BACKTICK = 0x60;
const TILDE = 0x7e;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

function isEscaped(text: OutputText, at: number, from: number): boolean {
  let start = at;
  while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

function runLength(text: OutputText, at: number): number {
  const code = text.charCodeAt(at);
  let end = at + 1;
  while (end < text.length && text.charCodeAt(end) === code) end += 1;
  return end - at;
}

function opensFence(text: OutputText, at: number, length: number): boolean {
  if (length < 3 || !isFirstOnLine(text, at)) return false;
  return text.charCodeAt(at) !== BACKTICK || !lineHasBacktick(text, at + length);
}

/**
 * A fence may be indented to any depth: in lists, markdown counts the indentation from the text of
 * the list.
 */
function isFirstOnLine(text: OutputText, at: number): boolean {
  const start = at - indentBefore(text, at);
  return start === 0 || text.charCodeAt(start - 1) === NEWLINE;
}

function indentBefore(text: OutputText, at: number): number {
  let start = at;
  while (start > 0 && isIndent(text.charCodeAt(start - 1))) start -= 1;
  return at - start;
}

const isIndent = (code: number) => code === SPACE || code === TAB;

function lineHasBacktick(text: OutputText, from: number): boolean {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE) return false;
    if (code === BACKTICK) return true;
  }
  return false;
}

function fencedBlock(text: OutputText, from: number, length: number): Region {
  const fence = text.charCodeAt(from);
  const deepest = indentBefore(text, from) + 3;
  let line = nextLine(text, from + length);
  while (line < text.length) {
    const end = closingFenceEnd(text, line, { fence, length, deepest });
    if (end !== undefined) return { from, to: end };
    line = nextLine(text, line);
  }
  return { from, to: text.length };
}

function nextLine(text: OutputText, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline < 0 ? text.length : newline + 1;
}

/** A fence that is indented deeper than its opening allows is part of the code. */
function closingFenceEnd(
  text: OutputText,
  line: number,
  opened: { readonly fence: number; readonly length: number; readonly deepest: number },
): number | undefined {
  const start = skipBlanks(text, line);
  if (text.charCodeAt(start) !== opened.fence || start - line > opened.deepest) return undefined;
  const run = runLength(text, start);
  if (run < opened.length) return undefined;
  const end = skipBlanks(text, start + run);
  return isLineEnd(text, end) ? end : undefined;
}

function skipBlanks(text: OutputText, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== TAB && code !== RETURN) return at;
    at += 1;
  }
}

function isLineEnd(text: OutputText, at: number): boolean {
  return at >= text.length || text.charCodeAt(at) === NEWLINE;
}

/**
 * A run of backticks opens a span if its paragraph has a later run of the same length. Each
 * paragraph is scanned once for the last run of each length. So a run without a partner costs
 * nothing to reject, and the search for a partner never goes beyond the span that it gives.
 */
function codeSpans(text: OutputText): (at: number, length: number) => Region | undefined {
  let paragraph: Paragraph = { end: 0, lastRuns: new Map() };
  return (from, length) => {
    if (from >= paragraph.end) paragraph = surveyParagraph(text, from);
    if ((paragraph.lastRuns.get(length) ?? from) <= from) return undefined;
    let at = from + length;
    for (;;) {
      at = text.indexOf('`', at);
      const run = runLength(text, at);
      at += run;
      if (run === length) return { from, to: at };
    }
  };
}

interface Paragraph {
  readonly end: number;
  readonly lastRuns: ReadonlyMap<number, number>;
}

function surveyParagraph(text: OutputText, from: number): Paragraph {
  const lastRuns = new Map<number, number>();
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const length = code === BACKTICK ? runLength(text, at) : 1;
    if (code === BACKTICK) lastRuns.set(length, at);
    at += length;
    if (code === NEWLINE && endsParagraph(text, at)) break;
  }
  return { end: at, lastRuns };
}

function endsParagraph(text: OutputText, line: number): boolean {
  if (isLineEnd(text, skipBlanks(text, line))) return true;
  const start = skipBlanks(text, line);
  const code = text.charCodeAt(start);
  return (code === BACKTICK || code === TILDE) && opensFence(text, start, runLength(text, start));
}
