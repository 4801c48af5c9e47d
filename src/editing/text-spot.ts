/** What the cursor is in, in the text of a prompt or a script that may be incomplete. */
import { type TagName, TRANSITION_TAGS } from '../model/tag.ts';

export type TextSpot = {
  /** Where the word begins that the cursor is in. */
  readonly from: number;
} & (
  | { readonly kind: 'tag-name' }
  | { readonly kind: 'attribute'; readonly tag: TagName; readonly used: readonly string[] }
  | { readonly kind: 'value'; readonly tag: TagName; readonly attribute: string }
  | { readonly kind: 'body'; readonly tag: TagName }
  /** After `{{`. */
  | { readonly kind: 'placeholder' }
  /** After `$` or `%` in a script. */
  | { readonly kind: 'variable' }
);

/** Looks back a limited number of characters, so that its work does not depend on the length of the text. */
export function textSpot(text: string, at: number, isScript: boolean): TextSpot | undefined {
  const start = Math.max(0, at - LONGEST);
  const before = text.slice(start, at);
  const [, word] = /\{\{([A-Za-z_]\w{0,100})?$/.exec(before) ?? [];
  if (!isScript && before.endsWith(`{{${word ?? ''}`))
    return { kind: 'placeholder', from: at - (word ?? '').length };
  const [, variable] = /(?:[$%]\{?|\$env:)([A-Z][A-Z_]{0,100})?$/i.exec(before) ?? [];
  if (isScript && (variable !== undefined || /[$%]\{?$/.test(before)))
    return { kind: 'variable', from: at - (variable ?? '').length };
  const opening = before.lastIndexOf('<');
  if (opening < 0) return undefined;
  const spot = inTag(before.slice(opening));
  return spot && { ...spot, from: spot.from + start + opening };
}

/** No author writes a longer tag. */
const LONGEST = 2_000;

/** `tag` begins with `<` and ends at the cursor. */
function inTag(tag: string): TextSpot | undefined {
  if (/^<[a-z-]*$/.test(tag)) return { kind: 'tag-name', from: 1 };
  const written = /^<([a-z-]+)(?=[\s>])/.exec(tag)?.[1];
  const name = TRANSITION_TAGS.find((one) => one === written);
  if (name === undefined) return undefined;
  const used: string[] = [];
  let at = 1 + name.length;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const [whole = '', attribute = '', quote] = ATTRIBUTE.exec(tag) ?? [];
    if (quote === undefined) break;
    const from = at + whole.length;
    const end = tag.indexOf(quote, from);
    if (end < 0) return { kind: 'value', tag: name, attribute, from };
    used.push(attribute);
    at = end + quote.length;
  }
  const rest = tag.slice(at);
  const close = rest.indexOf('>');
  if (close >= 0) return { kind: 'body', tag: name, from: at + close + 1 };
  const [, space, word] = /^(\s+)([\w-]*)$/.exec(rest) ?? [];
  if (space === undefined || word === undefined) return undefined;
  return { kind: 'attribute', tag: name, used, from: at + space.length };
}

/** Up to the opening quote, which a script may escape. */
const ATTRIBUTE = /\s+([\w-]+)\s*=\s*((?:\\|`|\^)?["'])/y;
