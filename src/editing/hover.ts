/** What is known about the word at the cursor, as markdown. */
import { limitFacts, policyFacts } from '../draw/policy-facts.ts';
import { edgesByEnd, type GraphEdge, graphOf, stateNode } from '../graph/graph.ts';
import { once } from '../graph/once.ts';
import type { StateName } from '../model/state-name.ts';
import { visible } from '../model/visible.ts';
import type { State, Workflow } from '../model/workflow.ts';
import { clip } from '../parse/clip.ts';
import { MEANINGS } from '../parse/placeholders.ts';
import { extensionOf } from '../parse/state.ts';
import { ATTRIBUTE_MEANINGS, TAG_MEANINGS } from '../parse/tag-meanings.ts';
import { type Schemas, yamlAt } from './complete.ts';
import { type EditedWorkflow, nameAt, stateNamed, textOf } from './edited-workflow.ts';
import { descriptionAt } from './schema-keys.ts';
import { textSpot } from './text-spot.ts';

export interface Hover {
  readonly from: number;
  readonly to: number;
  readonly markdown: string;
}

export function hoverAt(
  edited: EditedWorkflow,
  file: string,
  at: number,
  schemas: Schemas,
): Hover | undefined {
  const text = textOf(edited, file)?.text;
  if (text === undefined) return undefined;
  const use = nameAt(edited, file, at);
  const state = use && stateNamed(edited, use.written);
  if (use && state !== undefined)
    return { from: use.from, to: use.to, markdown: aboutState(edited, state) };
  const word = wordAt(text, at);
  if (!word) return undefined;
  const meaning = meaningOf(edited, file, text, word, schemas);
  return meaning ? { ...word, markdown: meaning } : undefined;
}

interface Word {
  readonly from: number;
  readonly to: number;
}

function wordAt(text: string, at: number): Word | undefined {
  const before = /[\w-]*$/.exec(text.slice(Math.max(0, at - LONGEST), at))?.[0].length ?? 0;
  const after = /^[\w-]*/.exec(text.slice(at, at + LONGEST))?.[0].length ?? 0;
  return before + after === 0 ? undefined : { from: at - before, to: at + after };
}

/** No word of the language is longer. */
const LONGEST = 100;

function meaningOf(
  edited: EditedWorkflow,
  file: string,
  text: string,
  { from, to }: Word,
  schemas: Schemas,
): string | undefined {
  const word = text.slice(from, to);
  const yaml = yamlAt(edited, file, text, to, schemas);
  if (yaml?.spot.kind === 'key') {
    const written = descriptionAt(yaml.schema, yaml.spot.path, word);
    return written || own(ATTRIBUTE_MEANINGS, word);
  }
  if (yaml?.spot.kind === 'value' && yaml.spot.path.at(-1) === 'tag')
    return own(TAG_MEANINGS, word);
  if (yaml && yaml.spot.kind !== 'text') return undefined;
  const isScript = yaml ? yaml.spot.path.at(-1) !== 'prompt' : extensionOf(file) !== '.md';
  const spot = textSpot(text, to, isScript);
  switch (spot?.kind) {
    case 'tag-name':
      return own(TAG_MEANINGS, word);
    case 'attribute':
      return own(ATTRIBUTE_MEANINGS, word);
    case 'placeholder':
      return own(MEANINGS, word);
    case 'variable':
      return own(MEANINGS, word.replace(/^RAYMOND_/, '').toLowerCase());
    default:
      return undefined;
  }
}

const own = (table: Readonly<Record<string, string>>, word: string) =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** What leads to a state, where it leads, and what limits it. */
export function aboutState({ reading, states }: EditedWorkflow, name: StateName): string {
  const state = states.get(name);
  if (!state || !reading.ok) return code(name);
  const { workflow } = reading;
  const { nodes, edges } = drawn(workflow);
  const node = nodes.get(stateNode(name));
  const isEntry = workflow.entry === name;
  const list = (title: string, found: readonly GraphEdge[], end: 'from' | 'to') => {
    const items = found.map((edge) => {
      const other = nodes.get(edge[end])?.label ?? '?';
      return `${code(other)} (${plainText(edge.label)})`;
    });
    const all = [...new Set(items)];
    const more = all.length > MOST_NEIGHBOURS ? `, and ${all.length - MOST_NEIGHBOURS} more` : '';
    return all.length === 0 ? [] : [`${title}: ${all.slice(0, MOST_NEIGHBOURS).join(', ')}${more}`];
  };
  const id = stateNode(name);
  return [
    [code(name), plainText(node?.detail ?? ''), ...(isEntry ? ['entry'] : [])].join(' · '),
    ...list('Reached from', edges.to.get(id) ?? [], 'from'),
    ...list('Leads to', edges.from.get(id) ?? [], 'to'),
    ...factsOf(state, workflow),
    ...(node?.rights === undefined ? [] : [`Rights: ${code(node.rights)}`]),
  ].join('\n\n');
}

const MOST_NEIGHBOURS = 20;

const drawn = once((workflow: Workflow) => {
  const { nodes, edges } = graphOf(workflow);
  return { nodes: new Map(nodes.map((node) => [node.id, node])), edges: edgesByEnd(edges) };
});

function factsOf(state: State, workflow: Workflow): readonly string[] {
  if (state.kind === 'broken') {
    const [first] = state.diagnostics;
    return first ? [`Cannot be read: ${plainText(first.message)}`] : [];
  }
  const found =
    state.kind === 'prompt' ? policyFacts(state.policy, workflow) : limitFacts(state.limits);
  const shown = found.filter(([key]) => key !== 'may write' && !key.startsWith('rights.'));
  return shown.length === 0
    ? []
    : [`Limits: ${shown.map(([key, value]) => code(`${key}: ${clip(value)}`)).join(', ')}`];
}

/** Text of others as code, so that an editor shows no link, picture or markup of it. */
function code(text: string): string {
  const shown = visible(text).replace(/\s+/g, ' ');
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${shown}${fence}` : `${fence} ${shown} ${fence}`;
}

/** The same in a sentence. */
const plainText = (text: string) =>
  visible(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]()<>#!|~&:]/g, (char) => `\\${char}`);
