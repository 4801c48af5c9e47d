/**
 * Every place in the files of a workflow that names a state. Go to state, references and rename all
 * read this list. A file that cannot be read as a state still has its places.
 */
import { type TagPart, type TextOfState, tagPartsOf } from '../graph/mentions.ts';
import { once } from '../graph/once.ts';
import type { TagName } from '../model/tag.ts';
import { splitFrontMatter } from '../parse/front-matter.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { extensionOf, INTERPRETERS, isStateFile } from '../parse/state.ts';
import { STATE_ATTRIBUTES, TAG_RULES } from '../parse/transition.ts';
import { readYamlText } from '../parse/yaml-text.ts';
import type { SourceText } from './source-text.ts';
import { namesInManifest, namesInPolicy, namesInWorkflow } from './yaml-names.ts';

export interface NameUse {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  /** The name, decoded. */
  readonly written: string;
  /**
   * `definition`: the key of a state in a YAML workflow. `tag`: in a tag, with entities in attributes.
   * `yaml`: a value or a key.
   */
  readonly kind: 'definition' | 'tag' | 'yaml';
  /** The tag and the attribute of a use in a tag. */
  readonly tag?: TagName;
  readonly attribute?: string;
  /** The place contains the name as it is, so that another name can replace it. */
  readonly isExact: boolean;
  /** The state whose text contains it; absent outside of states. */
  readonly within?: string;
}

export const namesIn = once((source: SourceText): readonly NameUse[] => {
  const { file, text } = source;
  const uses = isStateFile(file) ? namesInState(source) : namesInYaml(source);
  return uses
    .map((use) => ({ ...use, file, isExact: use.isExact && isThere(text, use) }))
    .toSorted((a, b) => a.from - b.from);
});

/** Whether the part of a tag names a state. */
export function namesState({ tag, attribute }: Pick<TagPart, 'tag' | 'attribute'>): boolean {
  const { body, required, optional } = TAG_RULES[tag];
  if (attribute === undefined) return body === 'target';
  return STATE_ATTRIBUTES.includes(attribute) && [...required, ...optional].includes(attribute);
}

type Found = Omit<NameUse, 'file'>;

function namesInState({ file, text }: SourceText): readonly Found[] {
  const within = file;
  const extension = extensionOf(file);
  if (extension !== undefined && extension !== '.md') {
    const interpreter = INTERPRETERS[extension];
    return namesInTags({ kind: 'script', text, interpreter }).map((use) => ({ ...use, within }));
  }
  const split = splitFrontMatter(text);
  if (typeof split === 'string')
    return namesInTags({ kind: 'prompt', template: text }).map((use) => ({ ...use, within }));
  const { yaml, template } = split;
  const start = text.indexOf('\n') + 1;
  const ofPolicy = namesInPolicy(readYamlText(yaml).contents);
  return [
    ...ofPolicy.map((use) => moved(use, start)),
    ...namesInTags({ kind: 'prompt', template }).map((use) =>
      moved(use, text.length - template.length),
    ),
  ].map((use) => ({ ...use, within }));
}

function namesInYaml({ file, text, isWorkflow }: SourceText): readonly Found[] {
  const { contents } = readYamlText(text);
  return file === MANIFEST && !isWorkflow
    ? namesInManifest(contents)
    : namesInWorkflow(contents, text, namesInTags);
}

const moved = (use: Found, by: number): Found => ({ ...use, from: use.from + by, to: use.to + by });

function namesInTags(state: TextOfState): readonly Found[] {
  return tagPartsOf(state)
    .filter(namesState)
    .map(({ tag, attribute, written, from, to }) => ({
      ...{ from, to, tag, written: decoded(written, attribute), kind: 'tag', isExact: true },
      ...(attribute !== undefined && { attribute }),
    }));
}

/** Whether nothing but the name is at its place, in the form that its tag or key needs. */
function isThere(text: string, { from, to, written, kind, attribute }: Found): boolean {
  return text.slice(from, to) === inForm(written, { kind, ...(attribute && { attribute }) });
}

/** A name as a file has it. Only attributes of tags have entities. */
export function inForm(name: string, { kind, attribute }: Pick<Found, 'kind' | 'attribute'>) {
  if (kind !== 'tag' || attribute === undefined) return name;
  return name.replace(/[&<"']/g, (char) => ENTITIES.get(char) ?? char);
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['"', '&quot;'],
  ["'", '&apos;'],
]);

function decoded(written: string, attribute: string | undefined): string {
  if (attribute === undefined || !written.includes('&')) return written;
  return [...ENTITIES].reduceRight(
    (text, [char, entity]) => text.replaceAll(entity, char),
    written,
  );
}
