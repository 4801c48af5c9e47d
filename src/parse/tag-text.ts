import type { Tag } from '../model/tag.ts';
import { readTags } from './tags.ts';
import { readTransition, writeTag } from './transition.ts';

type TagText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string; readonly remedy: string };

/** Writes a tag that a reader of a script's output reads unchanged, or says why that is impossible. */
export function tagText(tag: Tag, choices: readonly string[]): TagText {
  const read = readTransition(tag, choices);
  if (!read.ok) return { ok: false, problem: `${read.message}.`, remedy: 'Correct the tag.' };
  const text = writeTag(tag);
  if (isReadAs(tag, text)) return { ok: true, text };
  // Attributes are escaped. A body is not, and ends at the first closing tag.
  return {
    ok: false,
    problem: `The body contains </${tag.name}>, which would end the tag.`,
    remedy: 'Write the text to a file, and pass the name of the file.',
  };
}

function isReadAs(tag: Tag, text: string): boolean {
  const { tags, bad } = readTags(text, { code: 'ignored' });
  const [read, ...more] = tags;
  if (!read || more.length > 0 || bad.length > 0) return false;
  const names = Object.keys(read.attributes);
  return (
    read.name === tag.name &&
    read.body === tag.body &&
    names.length === Object.keys(tag.attributes).length &&
    names.every((name) => read.attributes[name] === tag.attributes[name])
  );
}
