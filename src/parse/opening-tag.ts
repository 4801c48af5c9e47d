import type { OutputText } from '../model/tag.ts';

type OpeningTag =
  | {
      readonly kind: 'open';
      readonly attributes: Readonly<Record<string, string>>;
      readonly end: number;
    }
  | { readonly kind: 'self-closed'; readonly end: number }
  | { readonly kind: 'malformed'; readonly problem: string };

/**
 * Reads the attributes that follow `<name`, up to and including `>`.
 *
 * A caller may start again inside the text that an earlier call has read, and the total time is
 * still linear. A later `<name` can only be inside a quoted value of each earlier call that is
 * still reading. A `"` swaps "outside values" with "inside double quotes", and a `'` does the same
 * for single quotes. So two calls that are in different states at one place never reach the same
 * state. There are three states, so at most three calls read the same character.
 */
export function readOpeningTag(text: OutputText, name: string, nameEnd: number): OpeningTag {
  let attributes = NO_ATTRIBUTES;
  let previous = '';
  let at = nameEnd;
  for (;;) {
    const start = skipSpace(text, at);
    const code = text.charCodeAt(start);
    if (code === GREATER_THAN) return { kind: 'open', attributes, end: start + 1 };
    if (code === SLASH && text.charCodeAt(start + 1) === GREATER_THAN) {
      return { kind: 'self-closed', end: start + 2 };
    }
    if (start === at) return malformed(noSpaceAfter(previous, name));
    const attribute = readAttribute(text, name, start);
    if ('problem' in attribute) return malformed(attribute.problem);
    if (attribute.name in attributes) return malformed(repeated(attribute.name, name));
    if (attributes === NO_ATTRIBUTES) attributes = Object.create(null);
    attributes[attribute.name] = attribute.value;
    previous = attribute.name;
    at = attribute.end;
  }
}

/** Where the attributes of a tag are in a text, up to the first one that cannot be read. */
export function attributePlaces(text: string, tag: string, nameEnd: number): AttributePlaces {
  const found: AttributePlace[] = [];
  let at = nameEnd;
  for (;;) {
    const start = skipSpace(text, at);
    const attribute = start === at ? undefined : readAttribute(text, tag, start);
    if (!attribute || 'problem' in attribute) return { found, end: start };
    const { name, from, end } = attribute;
    found.push({ name, from, to: end - 1 });
    at = end;
  }
}

interface AttributePlaces {
  readonly found: readonly AttributePlace[];
  /** The offset of what follows, which is `>` in a complete tag. */
  readonly end: number;
}

interface AttributePlace {
  readonly name: string;
  /** Start and end of the value, between its quotes. */
  readonly from: number;
  readonly to: number;
}

export function skipSpace(text: OutputText, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d;
}

/** Most tags have none. A name such as `constructor` must not be found in it. */
const NO_ATTRIBUTES: Record<string, string> = Object.freeze(Object.create(null));

const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const ENDS_ATTRIBUTE_NAME = new Set([...' \n\t\r=\'"<>/'].map((c) => c.charCodeAt(0)));

type Attribute =
  /** `from`: where the value begins, after its quote. The quote that ends it is before `end`. */
  | { readonly name: string; readonly value: string; readonly from: number; readonly end: number }
  | { readonly problem: string };

function readAttribute(text: OutputText, tag: string, start: number): Attribute {
  const nameEnd = attributeNameEnd(text, start);
  if (nameEnd === start) return { problem: unexpected(text, start, tag) };
  const name = text.slice(start, nameEnd);
  const equals = skipSpace(text, nameEnd);
  if (text.charCodeAt(equals) !== EQUALS) return { problem: noValue(name, tag) };
  const open = skipSpace(text, equals + 1);
  const quote = text.charCodeAt(open);
  if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) return { problem: unquoted(name, tag) };
  const close = quoteEnd(text, quote, open + 1);
  if (close === text.length) return { problem: unclosedValue(name, tag) };
  const from = open + 1;
  return { name, value: decodeEntities(text.slice(from, close)), from, end: close + 1 };
}

function attributeNameEnd(text: OutputText, from: number): number {
  let at = from;
  while (at < text.length && !ENDS_ATTRIBUTE_NAME.has(text.charCodeAt(at))) at += 1;
  return at;
}

function quoteEnd(text: OutputText, quote: number, from: number): number {
  const end = text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", from);
  return end < 0 ? text.length : end;
}

const ENTITIES = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
]);

function decodeEntities(value: string): string {
  if (!value.includes('&')) return value;
  return value.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES.get(entity) ?? entity);
}

function malformed(problem: string): OpeningTag {
  return { kind: 'malformed', problem };
}

function noSpaceAfter(attribute: string, tag: string): string {
  return `In <${tag}> the value of ${clipped(attribute)} is followed by more text without a space. Check that its quote is closed, separate attributes by a space, and write a quote inside a value as &quot; or &apos;.`;
}

function repeated(attribute: string, tag: string): string {
  return `<${tag}> has the attribute ${clipped(attribute)} twice. Write it once.`;
}

function noValue(attribute: string, tag: string): string {
  return `In <${tag}> the attribute ${clipped(attribute)} has no value. Write ${clipped(attribute)}="…", or leave it out.`;
}

function unquoted(attribute: string, tag: string): string {
  return `In <${tag}> the value of ${clipped(attribute)} is not quoted. Write ${clipped(attribute)}="…".`;
}

function unclosedValue(attribute: string, tag: string): string {
  return `In <${tag}> the quoted value of ${clipped(attribute)} never ends. Write ${clipped(attribute)}="…" with both quotes.`;
}

function unexpected(text: OutputText, at: number, tag: string): string {
  const found = at < text.length ? text.slice(at, at + 1) : 'the end of the text';
  return `In <${tag}> there is ${found} where an attribute or > should be. Write <${tag}>…</${tag}>, with attributes as name="value".`;
}

function clipped(attribute: string): string {
  return attribute.length > 40 ? `${attribute.slice(0, 40)}…` : attribute;
}
