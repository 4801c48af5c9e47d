import { type OutputText, type TagName, TRANSITION_TAGS } from '../model/tag.ts';
import { type ForwardSearch, forwardSearch } from './forward-search.ts';
import { isSpace, skipSpace } from './opening-tag.ts';

/** A print is no transition, but it hides the tags in its body. */
type KnownName = TagName | 'print';

export interface TagOpenings {
  /**
   * The first `<` at or after `from` that may begin a tag; the length of the text if there is none.
   * `from` must never decrease.
   */
  next(from: number): number;
  /** The closing tag that ends a body which begins at `from`. */
  closing(
    name: KnownName,
    from: number,
  ): { readonly start: number; readonly end: number } | undefined;
}

/**
 * Finds where tags may open. A tag counts only if it is closed later or closes itself. So openings of
 * a name that no later `</name>` closes are skipped, unless a `/>` follows. Text full of openings
 * that nothing closes is then read as fast as a native search passes it.
 */
export function tagOpenings(text: OutputText): TagOpenings {
  const nextSelfClosing = forwardSearch(text, '/>');
  let names: readonly SearchedName[] | undefined;
  return {
    next(from) {
      names ??= survey(text, text.indexOf('<', from));
      const mayCloseItself = nextSelfClosing(from) < text.length;
      let nearest = text.length;
      for (const name of names) {
        if (!mayCloseItself && name.lastClosing < from) continue;
        const opening = name.nextOpening(from);
        if (opening < nearest) nearest = opening;
      }
      return nearest;
    },
    closing(name, from) {
      const last = names?.find((known) => known.name === name)?.lastClosing ?? -1;
      let at = from;
      // A search starts only when it will succeed. The text that it passes belongs to the tag, so no
      // part is searched twice.
      while (at <= last) {
        const start = text.indexOf(`</${name}`, at);
        const end = closingEnd(text, start, name);
        if (end !== undefined) return { start, end };
        at = start + 2;
      }
      return undefined;
    },
  };
}

/** The known name that an opening tag at this `<` has. */
export function openedName(text: OutputText, at: number): KnownName | undefined {
  const name = knownNameAt(text, at + 1);
  return name !== undefined && endsName(text, at + 1 + name.length) ? name : undefined;
}

interface SearchedName {
  readonly name: KnownName;
  readonly lastClosing: number;
  readonly nextOpening: ForwardSearch;
}

const KNOWN_NAMES: readonly KnownName[] = [...TRANSITION_TAGS, 'print'];

const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const HYPHEN = 0x2d;
const LETTER_A = 0x61;
const LETTER_Z = 0x7a;

const NAMES_BY_LETTER: readonly (readonly KnownName[])[] = Array.from(
  { length: LETTER_Z - LETTER_A + 1 },
  (_, letter) => KNOWN_NAMES.filter((name) => name.charCodeAt(0) === LETTER_A + letter),
);

/** All names, with the last closing tag of each, for a text without `<` before `from`. */
function survey(text: OutputText, from: number): readonly SearchedName[] {
  if (from < 0) return [];
  const last = new Map<KnownName, number>();
  for (let at = text.indexOf('</', from); at >= 0; at = text.indexOf('</', at + 2)) {
    const name = knownNameAt(text, at + 2);
    if (name !== undefined && closingEnd(text, at, name) !== undefined) last.set(name, at);
  }
  return KNOWN_NAMES.map((name) => ({
    name,
    lastClosing: last.get(name) ?? -1,
    nextOpening: forwardSearch(text, `<${name}`),
  }));
}

function knownNameAt(text: OutputText, from: number): KnownName | undefined {
  const letter = text.charCodeAt(from);
  if (!(letter >= LETTER_A && letter <= LETTER_Z)) return undefined;
  return NAMES_BY_LETTER[letter - LETTER_A]?.find((name) => isNameAt(text, from, name));
}

function isNameAt(text: OutputText, from: number, name: KnownName): boolean {
  for (let i = 1; i < name.length; i += 1) {
    if (text.charCodeAt(from + i) !== name.charCodeAt(i)) return false;
  }
  return !isNameCharacter(text.charCodeAt(from + name.length));
}

function isNameCharacter(code: number): boolean {
  return (code >= LETTER_A && code <= LETTER_Z) || code === HYPHEN;
}

function endsName(text: OutputText, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === SLASH) return text.charCodeAt(at + 1) === GREATER_THAN;
  return code === GREATER_THAN || isSpace(code);
}

function closingEnd(text: OutputText, at: number, name: KnownName): number | undefined {
  const end = skipSpace(text, at + 2 + name.length);
  return text.charCodeAt(end) === GREATER_THAN ? end + 1 : undefined;
}
