/** What can be written at the cursor. */
import { mentionsOf } from '../graph/mentions.ts';
import { type TagName, TRANSITION_TAGS } from '../model/tag.ts';
import type { State } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { splitFrontMatter } from '../parse/front-matter.ts';
import { MANIFEST } from '../parse/manifest.ts';
import {
  GIVEN_NAMES,
  JUDGE_NAMES,
  MEANINGS,
  SCRIPT_NAMES,
  variableOf,
} from '../parse/placeholders.ts';
import { findState } from '../parse/resolve.ts';
import { EXTENSIONS, extensionOf, isStateFile, stemOf } from '../parse/state.ts';
import { ATTRIBUTE_MEANINGS, TAG_MEANINGS } from '../parse/tag-meanings.ts';
import { attributesOf, STATE_ATTRIBUTES, TAG_RULES } from '../parse/transition.ts';
import { type EditedWorkflow, textOf } from './edited-workflow.ts';
import { namesState } from './name-uses.ts';
import { keysAt, type Schema, valuesAt } from './schema-keys.ts';
import { type TextSpot, textSpot } from './text-spot.ts';
import { type Step, type YamlSpot, yamlSpot } from './yaml-spot.ts';

export interface Completion {
  readonly label: string;
  readonly kind: 'state' | 'tag' | 'attribute' | 'key' | 'value' | 'placeholder';
  /** A few words beside the label. */
  readonly detail?: string;
  readonly documentation?: string;
  readonly insert: string;
  /** The same with places for the cursor, for editors that know them: `$1`. */
  readonly snippet?: string;
}

export interface Completions {
  /** Where the word begins that they replace. */
  readonly from: number;
  readonly items: readonly Completion[];
}

/** The schemas of the YAML texts. */
export interface Schemas {
  readonly frontMatter: Schema;
  readonly manifest: Schema;
  readonly workflow: Schema;
}

export function completionsAt(
  edited: EditedWorkflow,
  file: string,
  at: number,
  schemas: Schemas,
): Completions | undefined {
  const text = textOf(edited, file)?.text;
  if (text === undefined) return undefined;
  const yaml = yamlAt(edited, file, text, at, schemas);
  if (yaml && yaml.spot.kind !== 'text') return ofYaml(edited, yaml);
  if (yaml && !isTextOfState(yaml)) return undefined;
  const isScript = yaml ? yaml.spot.path.at(-1) !== 'prompt' : extensionOf(file) !== '.md';
  const spot = textSpot(text, at, isScript);
  return spot && ofText(edited, spot, text, isScript);
}

export interface YamlPlace {
  readonly spot: YamlSpot;
  readonly schema: Schema;
  /** The path from the root of front matter, also in a workflow in one file. */
  readonly inState: readonly Step[] | undefined;
  readonly isManifest: boolean;
}

/** The place in front matter, in a manifest or in a workflow in one file. */
export function yamlAt(
  { whole }: Pick<EditedWorkflow, 'whole'>,
  file: string,
  text: string,
  at: number,
  schemas: Schemas,
): YamlPlace | undefined {
  if (isStateFile(file)) {
    const front = extensionOf(file) === '.md' ? frontMatterIn(text) : undefined;
    if (!front || at < front.from || at > front.to) return undefined;
    const spot = yamlSpot(text.slice(front.from, front.to), at - front.from);
    if (!spot) return undefined;
    const moved = { ...spot, from: spot.from + front.from };
    return { spot: moved, schema: schemas.frontMatter, inState: spot.path, isManifest: false };
  }
  const spot = yamlSpot(text, at);
  if (!spot) return undefined;
  const isManifest = file === MANIFEST && whole === undefined;
  const inState = !isManifest && spot.path[0] === 'states' ? spot.path.slice(2) : undefined;
  return { spot, schema: isManifest ? schemas.manifest : schemas.workflow, inState, isManifest };
}

/** Also front matter whose last line is missing, because someone writes it now. */
function frontMatterIn(text: string): { readonly from: number; readonly to: number } | undefined {
  const split = splitFrontMatter(text);
  if (split === 'none') return undefined;
  const from = text.indexOf('\n') + 1;
  if (from === 0) return undefined;
  return { from, to: split === 'unclosed' ? text.length : from + split.yaml.length };
}

const isTextOfState = ({ spot: { path } }: YamlPlace) => path[0] === 'states' && path.length === 3;

function ofYaml(edited: EditedWorkflow, { spot, schema, inState, isManifest }: YamlPlace) {
  const { path, from, siblings, kind } = spot;
  if (isManifest && kind === 'key' && path.length === 1 && path[0] === 'states')
    return { from, items: stateFiles(edited).map(asKey) };
  if (kind === 'value' && isNameOf(inState ?? path))
    return { from: spot.from, items: statesOf(edited) };
  const values = valuesAt(schema, path).map(({ name }) => plain(name, 'value'));
  if (kind === 'value') return { from, items: values };
  const keys = keysAt(schema, path, siblings)
    .filter(({ name }) => !siblings.has(name))
    .map(({ name, description }) =>
      asKey({
        ...plain(name, 'key'),
        documentation: description || (ATTRIBUTE_MEANINGS[name] ?? ''),
      }),
    );
  return { from, items: keys.length > 0 ? keys : values };
}

const asKey = (item: Completion): Completion => ({ ...item, insert: `${item.label}: ` });

/** Whether the value at a path of front matter, or at the top of a manifest, names a state. */
function isNameOf(path: readonly Step[]): boolean {
  const last = path.at(-1);
  const above = path.at(-2);
  if (typeof last !== 'string') return false;
  if (path.length === 1) return last === 'handover';
  if (last === 'prompt') return path[0] === 'evaluators';
  const isEntry = typeof above === 'number' || above === 'then' || above === 'else';
  return isEntry && (last === 'target' || STATE_ATTRIBUTES.includes(last));
}

function ofText(
  edited: EditedWorkflow,
  spot: TextSpot,
  text: string,
  isScript: boolean,
): Completions | undefined {
  const { from } = spot;
  switch (spot.kind) {
    case 'tag-name':
      return {
        from,
        items: TRANSITION_TAGS.map((tag) => tagItem(tag, quoteFor(text, from, isScript))),
      };
    case 'attribute': {
      const quote = quoteFor(text, from, isScript);
      const names = attributesOf(spot.tag, tagChoices(edited.agents));
      const items = names
        .filter((name) => !spot.used.includes(name))
        .map((name) => ({
          ...plain(name, 'attribute'),
          documentation: ATTRIBUTE_MEANINGS[name] ?? '',
          insert: `${name}=${quote}${quote}`,
          snippet: `${name}=${quote}$1${quote}`,
        }));
      return { from, items };
    }
    case 'value':
      if (namesState(spot)) return { from, items: statesOf(edited) };
      return { from, items: (WORDS[spot.attribute] ?? []).map((word) => plain(word, 'value')) };
    case 'body':
      return namesState(spot) ? { from, items: statesOf(edited) } : undefined;
    case 'placeholder':
      return { from, items: placeholders(edited) };
    case 'variable':
      return {
        from,
        items: SCRIPT_NAMES.map((name) => ({
          ...plain(variableOf(name), 'placeholder'),
          documentation: MEANINGS[name],
        })),
      };
  }
}

/** The attributes with fixed words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  of: ['all', 'any'],
  rest: ['stop', 'continue'],
  worktree: ['true'],
};

const plain = (label: string, kind: Completion['kind']): Completion => ({
  label,
  kind,
  insert: label,
});

function tagItem(tag: TagName, quote: string): Completion {
  const { required } = TAG_RULES[tag];
  const attributes = (value: (n: number) => string) =>
    required.map((name, i) => ` ${name}=${quote}${value(i + 1)}${quote}`).join('');
  return {
    ...plain(tag, 'tag'),
    documentation: TAG_MEANINGS[tag],
    insert: tag,
    snippet: `${tag}${attributes((n) => `$${n}`)}>$${required.length + 1}</${tag}>`,
  };
}

/** In a script, a quote that does not end the quotes around the tag. */
function quoteFor(text: string, at: number, isScript: boolean): string {
  if (!isScript) return '"';
  const line = text.slice(Math.max(0, text.lastIndexOf('\n', at - 1) + 1, at - 500), at);
  return (line.match(/'/g)?.length ?? 0) % 2 === 1 ? '"' : "'";
}

/** The states that can be named, as an author would name them. */
function statesOf(edited: EditedWorkflow): readonly Completion[] {
  const { states, platform } = edited;
  return stateFiles(edited).flatMap((item) => {
    const { label } = item;
    if (!EXTENSIONS[platform].some((extension) => label.endsWith(extension))) return [];
    const stem = stemOf(label);
    const isUnique = 'found' in findState({ states, platform }, stem);
    const name = isUnique ? stem : label;
    return [{ ...item, label: name, insert: name }];
  });
}

function stateFiles({ states }: EditedWorkflow): readonly Completion[] {
  return [...states.values()].map((state) => ({
    ...plain(state.name, 'state'),
    detail: kindOf(state),
  }));
}

function kindOf(state: State): string {
  switch (state.kind) {
    case 'prompt':
      return 'prompt';
    case 'script':
      return `script · ${state.interpreter}`;
    case 'broken':
      return 'cannot be read';
  }
}

/** Those of Raymond, and the variables that the forks of the workflow set. */
function placeholders(edited: EditedWorkflow): readonly Completion[] {
  const own = [...GIVEN_NAMES, ...JUDGE_NAMES].map((name) => ({
    ...plain(name, 'placeholder'),
    documentation: MEANINGS[name],
  }));
  const names = new Set(variablesOf(edited));
  for (const { label } of own) names.delete(label);
  return [
    ...own,
    ...[...names].map((name) => ({ ...plain(name, 'placeholder'), detail: 'set by a fork' })),
  ];
}

function variablesOf(edited: EditedWorkflow): readonly string[] {
  return [...edited.states.values()].flatMap((state) => {
    if (state.kind === 'broken') return [];
    const entries = state.kind === 'prompt' ? (state.policy.allowed ?? []) : [];
    const tags = [
      ...entries.map(({ tag, attributes }) => ({ name: tag, attributes })),
      ...mentionsOf(state).flatMap((mention) => (mention.kind === 'tag' ? [mention.tag] : [])),
    ];
    return tags.flatMap(({ name, attributes }) => {
      const { variables } = TAG_RULES[name];
      const known = attributesOf(name, tagChoices(edited.agents));
      return variables ? Object.keys(attributes).filter((one) => !known.includes(one)) : [];
    });
  });
}
