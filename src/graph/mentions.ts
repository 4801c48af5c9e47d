import { type BadTag, type Tag, type TagName, TRANSITION_TAGS } from '../model/tag.ts';
import type { Position, PromptState, ScriptState } from '../model/workflow.ts';
import { attributePlaces, readOpeningTag } from '../parse/opening-tag.ts';
import { once } from './once.ts';
import { positionsIn } from './position.ts';
import { plainScript, withoutComments } from './script-text.ts';
import { tagCommands } from './tag-commands.ts';

/** A tag that a prompt shows its agent, or that a script prints. */
export type Mention = Position & {
  /** Start and end in the state's text: a prompt's template, a script's source. */
  readonly from: number;
  readonly to: number;
} & (
    | { readonly kind: 'tag'; readonly tag: Tag }
    | { readonly kind: 'bad'; readonly bad: BadTag }
    /** Opened and never closed. A reader treats it as plain text. */
    | { readonly kind: 'unclosed'; readonly name: TagName }
  );

/**
 * The tags in a state's text, in order. Code counts, unlike in an agent's answer: authors show tags
 * in code blocks.
 */
export const mentionsOf = once((state: PromptState | ScriptState): readonly Mention[] => {
  if (state.kind === 'prompt') {
    const position = positionsIn(state.template, state.place);
    return scan(state.template).map((found) => ({ ...found, ...position(found.from) }));
  }
  const { text, origin } = plainScript(state);
  const position = positionsIn(state.text, state.place);
  const written = scan(text).map((found) => {
    const from = origin(found.from);
    return { ...found, from, to: origin(found.to), ...position(from) };
  });
  const printed = written.filter(({ to }) => isPrinted(state.text, to));
  const commands = tagCommands(withoutComments(state)).map((found) => ({
    ...found,
    kind: 'tag' as const,
    ...position(found.from),
  }));
  return commands.length === 0 ? printed : inOrder([...printed, ...commands]);
});

/** A part of a tag whose body or attribute has a text of its own, with its place in the state's text. */
export interface TagPart {
  readonly tag: TagName;
  /** The name of the attribute; absent for the body. */
  readonly attribute?: string;
  /** Without the spaces around it. */
  readonly written: string;
  readonly from: number;
  readonly to: number;
  /** The start of its tag. */
  readonly tagFrom: number;
}

/**
 * The bodies and attributes of the tags in a state's text. In a script, the place of a part may contain quotes
 * and escapes that are not part of what it prints.
 */
export function tagPartsOf(state: TextOfState): readonly TagPart[] {
  if (state.kind === 'prompt') return partsIn(state.template);
  const { text, origin } = plainScript(state);
  const written = partsIn(text, origin, (to) => isPrinted(state.text, to));
  const printed = tagCommands(withoutComments(state)).flatMap(({ tag, from, words }) =>
    words.map((word) => ({ ...word, tag: tag.name, tagFrom: from })),
  );
  return [...written, ...printed].toSorted((a, b) => a.from - b.from);
}

/** The text of a state, without what its front matter or its manifest says about it. */
export type TextOfState =
  | Pick<PromptState, 'kind' | 'template'>
  | Pick<ScriptState, 'kind' | 'text' | 'interpreter'>;

function partsIn(
  text: string,
  origin = (offset: number) => offset,
  isShown = (_to: number) => true,
): readonly TagPart[] {
  return scan(text).flatMap((found) => {
    if (found.kind !== 'tag' || !isShown(origin(found.to))) return [];
    const { name } = found.tag;
    const { found: attributes, end } = attributePlaces(text, name, found.from + 1 + name.length);
    const place = (from: number, to: number, attribute?: string): TagPart => {
      const raw = text.slice(from, to);
      const start = from + raw.length - raw.trimStart().length;
      const written = raw.trim();
      const last = start + written.length;
      return {
        tag: name,
        ...(attribute !== undefined && { attribute }),
        written,
        from: origin(start),
        // The origin of the next character would be after a quote that ends the text.
        to: last > start ? origin(last - 1) + 1 : origin(start),
        tagFrom: origin(found.from),
      };
    };
    return [
      ...attributes.map(({ name: attribute, from, to }) => place(from, to, attribute)),
      place(end + 1, text.lastIndexOf('</', found.to - 1)),
    ];
  });
}

/** Whether a tag that ends at this offset of a script reaches its standard output. */
const isPrinted = (script: string, to: number) => !NOT_PRINTED.test(script.slice(to, to + 200));

/** The rest of a command that does not write to its standard output. */
const NOT_PRINTED = /^[^\n;|]*?>(?:&\s*2|>?\s*\/dev\/(?:null|stderr))\b/;

const inOrder = (mentions: readonly Mention[]) => mentions.toSorted((a, b) => a.from - b.from);

type MentionWithoutPosition = Mention extends infer M
  ? M extends Mention
    ? Omit<M, keyof Position>
    : never
  : never;

const NAMES = [...TRANSITION_TAGS, 'print'].sort((a, b) => b.length - a.length);

function scan(text: string): readonly MentionWithoutPosition[] {
  const opening = new RegExp(`<(${NAMES.join('|')})(?=[\\s>]|/>)`, 'g');
  const found: MentionWithoutPosition[] = [];
  const lastMatches: LastMatches = new Map();
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const name = TRANSITION_TAGS.find((tag) => tag === match?.[1]);
    const tag = readAt(text, match.index, match[1] ?? '', lastMatches);
    if (name && tag.what) found.push({ from: match.index, to: tag.end, ...tag.what(name) });
    opening.lastIndex = tag.end;
  }
  return found;
}

type What =
  | { readonly kind: 'tag'; readonly tag: Tag }
  | { readonly kind: 'bad'; readonly bad: BadTag }
  | { readonly kind: 'unclosed'; readonly name: TagName };

function readAt(
  text: string,
  from: number,
  name: string,
  lastMatches: LastMatches,
): { readonly end: number; readonly what?: (name: TagName) => What } {
  const nameEnd = from + 1 + name.length;
  const opening = readOpeningTag(text, name, nameEnd);
  if (opening.kind === 'self-closed') {
    const problem = `<${name}/> has no body. Write <${name}>…</${name}>.`;
    return { end: opening.end, what: (tag) => ({ kind: 'bad', bad: { name: tag, problem } }) };
  }
  const bodyStart = opening.kind === 'open' ? opening.end : nameEnd;
  const closing = find(text, `</${name}\\s*>`, bodyStart, lastMatches);
  // "End with <goto>, like <goto>NEXT</goto>": prose names a tag before it shows one.
  const isNamedAgain = find(text, `<${name}[ >]`, bodyStart, lastMatches).start < closing.start;
  if (closing.end === NEVER || isNamedAgain) {
    return { end: bodyStart, what: (tag) => ({ kind: 'unclosed', name: tag }) };
  }
  const { start, end } = closing;
  if (opening.kind === 'malformed') {
    const { problem } = opening;
    return { end, what: (tag) => ({ kind: 'bad', bad: { name: tag, problem } }) };
  }
  const { attributes } = opening;
  const body = text.slice(bodyStart, start);
  return { end, what: (tag) => ({ kind: 'tag', tag: { name: tag, attributes, body } }) };
}

/** The last match of each pattern. A search continues from there and never reads the same text twice. */
type LastMatches = Map<string, { readonly start: number; readonly end: number }>;

const NEVER = Number.POSITIVE_INFINITY;

function find(text: string, pattern: string, from: number, lastMatches: LastMatches) {
  const known = lastMatches.get(pattern);
  if (known && known.start >= from) return known;
  const search = new RegExp(pattern, 'g');
  search.lastIndex = from;
  const match = search.exec(text);
  const found = match
    ? { start: match.index, end: match.index + match[0].length }
    : { start: NEVER, end: NEVER };
  lastMatches.set(pattern, found);
  return found;
}
