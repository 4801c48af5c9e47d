/** INV-3: Reading tags never throws, and takes time in proportion to the length of the text. */
import type { BadTag, OutputText, Tag, TagName, TagReading } from '../model/tag.ts';
import { TRANSITION_TAGS } from '../model/tag.ts';
import { codeRegions, forwardSearch } from './code-regions.ts';
import { isSpace, readOpeningTag, skipSpace } from './opening-tag.ts';

/**
 * Reads the transition tags of an output in time linear in its length, for any text.
 *
 * With `code: 'heeded'` the text is markdown, and tags that open inside code count only if no tag
 * is outside code. One pass finds both tags and code, because the one that opens first hides the
 * other.
 */
export function readTags(
  text: OutputText,
  options: { readonly code: 'heeded' | 'ignored' },
): TagReading {
  const outside = emptyReading();
  const inside = emptyReading();
  const nextOpening = forwardSearch(text, '<');
  const nextCode = options.code === 'heeded' ? codeRegions(text) : noCode;
  const lastClosings = findLastClosings(text);
  let at = 0;
  for (;;) {
    const opening = nextOpening(at);
    const code = nextCode(at, opening);
    if (code !== undefined) {
      if (isEmpty(outside) && nextOpening(code.from) < code.to) {
        addAll(inside, readTags(text.slice(code.from, code.to), { code: 'ignored' }));
      }
      at = code.to;
    } else if (opening < text.length) {
      at = readTagAt(text, opening, lastClosings, outside);
    } else {
      return isEmpty(outside) ? inside : outside;
    }
  }
}

interface GrowingReading extends TagReading {
  readonly tags: Tag[];
  readonly bad: BadTag[];
}

type KnownName = TagName | 'print';

const KNOWN_NAMES = new Map<string, KnownName>(
  [...TRANSITION_TAGS, 'print' as const].map((name) => [name, name]),
);
const LONGEST_NAME = Math.max(...[...KNOWN_NAMES.keys()].map((name) => name.length));

const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const HYPHEN = 0x2d;

function emptyReading(): GrowingReading {
  return { tags: [], bad: [] };
}

function noCode(): undefined {
  return undefined;
}

function isEmpty(reading: TagReading): boolean {
  return reading.tags.length === 0 && reading.bad.length === 0;
}

function addAll(reading: GrowingReading, more: TagReading): void {
  for (const tag of more.tags) reading.tags.push(tag);
  for (const bad of more.bad) reading.bad.push(bad);
}

/**
 * The last closing tag of each name. A search for a closing tag starts only when it will succeed.
 * The text that it then passes belongs to the tag, so no part is searched twice.
 */
function findLastClosings(text: OutputText): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (let at = text.indexOf('</'); at >= 0; at = text.indexOf('</', at + 2)) {
    const name = knownNameAt(text, at + 2);
    if (name !== undefined && closingEnd(text, at, name) !== undefined) last.set(name, at);
  }
  return last;
}

/** Reads the tag that opens at this `<`, and returns where reading continues. */
function readTagAt(
  text: OutputText,
  at: number,
  lastClosings: ReadonlyMap<string, number>,
  reading: GrowingReading,
): number {
  const name = knownNameAt(text, at + 1);
  if (name === undefined) return at + 1;
  const nameEnd = at + 1 + name.length;
  if (!endsName(text, nameEnd)) return nameEnd;

  const opening = readOpeningTag(text, name, nameEnd);
  if (opening.kind === 'self-closed') {
    if (name !== 'print') reading.bad.push({ name, problem: selfClosed(name) });
    return opening.end;
  }
  // It is unknown where a malformed opening was meant to end, so its first closing tag counts.
  const bodyStart = opening.kind === 'open' ? opening.end : nameEnd;
  const closing = findClosing(text, name, bodyStart, lastClosings);
  if (closing === undefined) return nameEnd;
  if (name === 'print') return closing.end;

  if (opening.kind === 'open') {
    const body = text.slice(bodyStart, closing.start);
    reading.tags.push({ name, attributes: opening.attributes, body });
  } else {
    reading.bad.push({ name, problem: opening.problem });
  }
  return closing.end;
}

function knownNameAt(text: OutputText, from: number): KnownName | undefined {
  let end = from;
  while (end - from <= LONGEST_NAME && isNameCharacter(text.charCodeAt(end))) end += 1;
  return end === from ? undefined : KNOWN_NAMES.get(text.slice(from, end));
}

function isNameCharacter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || code === HYPHEN;
}

function endsName(text: OutputText, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === SLASH) return text.charCodeAt(at + 1) === GREATER_THAN;
  return code === GREATER_THAN || isSpace(code);
}

function selfClosed(name: TagName): string {
  return `<${name}/> has no body. Write <${name}>…</${name}>, with a body and a closing tag.`;
}

function findClosing(
  text: OutputText,
  name: KnownName,
  from: number,
  lastClosings: ReadonlyMap<string, number>,
): { readonly start: number; readonly end: number } | undefined {
  const last = lastClosings.get(name) ?? -1;
  let at = from;
  while (at <= last) {
    const start = text.indexOf(`</${name}`, at);
    const end = closingEnd(text, start, name);
    if (end !== undefined) return { start, end };
    at = start + 2;
  }
  return undefined;
}

function closingEnd(text: OutputText, at: number, name: KnownName): number | undefined {
  const end = skipSpace(text, at + 2 + name.length);
  return text.charCodeAt(end) === GREATER_THAN ? end + 1 : undefined;
}
