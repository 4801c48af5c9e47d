/** INV-3: Reading tags never throws, and takes time in proportion to the length of the text. */
import type { BadTag, OutputText, Tag, TagName, TagReading } from '../model/tag.ts';
import { codeRegions } from './code-regions.ts';
import { readOpeningTag } from './opening-tag.ts';
import { openedName, type TagOpenings, tagOpenings } from './tag-openings.ts';

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
  const openings = tagOpenings(text);
  const nextCode = options.code === 'heeded' ? codeRegions(text) : noCode;
  let at = 0;
  for (;;) {
    const opening = openings.next(at);
    if (opening >= text.length) return isEmpty(outside) ? inside : outside;
    const code = nextCode(at, opening);
    if (code === undefined) {
      at = readTagAt(text, opening, openings, outside);
    } else {
      if (isEmpty(outside) && opening < code.to) {
        addAll(inside, readTags(text.slice(code.from, code.to), { code: 'ignored' }));
      }
      at = code.to;
    }
  }
}

interface GrowingReading extends TagReading {
  readonly tags: Tag[];
  readonly bad: BadTag[];
}

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

/** Reads the tag that opens at this `<`, and returns where reading continues. */
function readTagAt(
  text: OutputText,
  at: number,
  openings: TagOpenings,
  reading: GrowingReading,
): number {
  const name = openedName(text, at);
  if (name === undefined) return at + 1;
  const nameEnd = at + 1 + name.length;

  const opening = readOpeningTag(text, name, nameEnd);
  if (opening.kind === 'self-closed') {
    if (name !== 'print') reading.bad.push({ name, problem: selfClosed(name) });
    return opening.end;
  }
  // It is unknown where a malformed opening was meant to end, so its first closing tag counts.
  const bodyStart = opening.kind === 'open' ? opening.end : nameEnd;
  const closing = openings.closing(name, bodyStart);
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

function selfClosed(name: TagName): string {
  return `<${name}/> has no body. Write <${name}>…</${name}>, with a body and a closing tag.`;
}
