/** The workflows that a document shows, and a play of each that has prompts. */
import { dirname } from 'node:path';
import { parse, stringify } from 'yaml';
import type { TagName } from '../../src/model/tag.ts';
import { readTags } from '../../src/parse/tags.ts';
import { type Played, play, type Script } from '../../src/testing.ts';
import type { Block, Document, PlayNote } from './documents.ts';

export interface ShownWorkflow {
  /** The argument with which `raymond` runs it. */
  readonly path: string;
  /** File name and text of each state. */
  readonly states: ReadonlyMap<string, string>;
}

/** A folder with a START, or a YAML file with states. */
export function workflowsOf({ blocks }: Document): readonly ShownWorkflow[] {
  const inFolders = new Map<string, Map<string, string>>();
  const inYaml: ShownWorkflow[] = [];
  for (const block of blocks) {
    if (block.file === undefined) continue;
    const name = block.file.split('/').at(-1) ?? '';
    if (isYamlWorkflow(block)) inYaml.push({ path: block.file, states: yamlStates(block.text) });
    if (!/\.(md|sh|bat|ps1)$/.test(name)) continue;
    const folder = dirname(block.file);
    const states = inFolders.get(folder) ?? new Map<string, string>();
    inFolders.set(folder, states.set(name, block.text));
  }
  const folders = [...inFolders].map(([path, states]) => ({ path, states }));
  return [...folders.filter(({ states }) => hasStart(states)), ...inYaml];
}

export function hasPrompts({ states }: ShownWorkflow): boolean {
  return [...states.keys()].some((name) => name.endsWith('.md'));
}

/** Answers come from the note. A state without answers uses the tags in its own text, in turn. */
export function playShown(
  workflow: ShownWorkflow,
  others: readonly ShownWorkflow[],
  note: PlayNote | undefined,
): Promise<Played> {
  const workflows = Object.fromEntries(
    others.flatMap((other) => [
      [`../${other.path}`, scriptOf(other, undefined)],
      [other.path, scriptOf(other, undefined)],
    ]),
  );
  const input = note?.expected.get('input');
  return play(scriptOf(workflow, note), {
    workflows,
    settings: { maxIterations: 60 },
    ...(input !== undefined && { input }),
  });
}

function hasStart(states: ReadonlyMap<string, string>): boolean {
  return [...states.keys()].some((name) => /^(1_)?START\./.test(name));
}

function isYamlWorkflow({ file = '', text }: Block): boolean {
  const isManifest = file.endsWith('/workflow.yaml');
  return /\.ya?ml$/.test(file) && !isManifest && /^states:/m.test(text);
}

function scriptOf({ states }: ShownWorkflow, note: PlayNote | undefined): Script {
  return Object.fromEntries(
    [...states].map(([name, text]) => {
      const given = note?.answers.get(name.replace(/\.\w+$/, ''));
      const ways = waysIn(text);
      const answer = (_step: unknown, execution: number) =>
        given ? (given[execution - 1] ?? '') : (ways[(execution - 1) % ways.length] ?? '');
      return [name, { text, answers: answer }];
    }),
  );
}

/** The tags that the text shows its agent, or that its shell prints. */
function waysIn(text: string): readonly string[] {
  const withoutFrontMatter = text.replace(/^---\n[\s\S]*?\n---\n/, '');
  return readTags(withoutFrontMatter, { code: 'ignored' }).tags.map(({ name, attributes, body }) =>
    written(name, attributes, body),
  );
}

function written(name: TagName, attributes: Readonly<Record<string, string>>, body: string) {
  const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  return `<${name}${list.join('')}>${body}</${name}>`;
}

function yamlStates(text: string): ReadonlyMap<string, string> {
  const { states } = parse(text) as { states: Record<string, Record<string, unknown>> };
  return new Map(
    Object.entries(states).flatMap(([name, { prompt, sh, bat, ps1, ...policy }]) => {
      if (prompt !== undefined) return [[`${name}.md`, `---\n${stringify(policy)}---\n${prompt}`]];
      return sh === undefined ? [] : [[`${name}.sh`, String(sh)]];
    }),
  );
}
