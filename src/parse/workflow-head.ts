import type { Agents } from '../model/agent.ts';
import type { About, InputRule } from '../model/workflow.ts';
import { readAgentNames } from './chosen-agent.ts';
import { readOwnRights } from './limits.ts';
import { readContext, readHandover } from './session-keys.ts';
import { readTriggers } from './triggers.ts';
import { variableProblem } from './variables.ts';
import { USD } from './yaml-numbers.ts';
import type { Field, YamlReader } from './yaml-reader.ts';

/** Reads what a workflow says about itself. The caller handles other keys. */
export function readHead(reader: YamlReader, fields: readonly Field[], agents: Agents): About {
  let about: About = {};
  for (const field of fields) {
    about = { ...about, ...READERS.get(field.key)?.(reader, field, agents) };
  }
  return about;
}

type ReadKey = (reader: YamlReader, field: Field, agents: Agents) => About;

const KEYS = {
  id: readId,
  name: text('title'),
  description: text('description'),
  input: readInput,
  default_budget: readBudget,
  environment: readEnvironment,
  agent: readAgent,
  rights: readOwnRights,
  handover: readHandover,
  context: readContext,
  triggers: readTriggers,
  // Manifests of other tools have it. A workflow that asks a person contains <ask>.
  requires_human_input: () => ({}),
} satisfies Readonly<Record<string, ReadKey>>;

export type HeadKey = keyof typeof KEYS;

const READERS: ReadonlyMap<string, ReadKey> = new Map<string, ReadKey>(Object.entries(KEYS));

export const HEAD_KEYS: readonly string[] = [...READERS.keys()];

function readId(reader: YamlReader, field: Field): About {
  const id = reader.text(field, 'id', 'a word');
  if (id === undefined) return {};
  if (/^[A-Za-z0-9][\w.-]{0,99}$/.test(id)) return { id };
  reader.mismatch(field, 'id', 'a word of letters, digits, dots, hyphens and underscores');
  return {};
}

function text(property: 'title' | 'description'): ReadKey {
  return (reader, field) => {
    const read = reader.text(field, field.key);
    return read === undefined ? {} : { [property]: read };
  };
}

function readInput(reader: YamlReader, field: Field): About {
  const expected = `a text, or a map with ${INPUT_KEYS.join(', ')}`;
  if (!reader.isMap(field)) {
    const label = reader.text(field, 'input', expected);
    return label === undefined ? {} : { input: { label, required: false } };
  }
  let input: InputRule = { required: false };
  for (const part of reader.fields(field, 'input', expected) ?? []) {
    if (part.key === 'required') {
      input = { ...input, required: reader.boolean(part, 'required') ?? false };
    } else if (part.key === 'label' || part.key === 'default') {
      const read = reader.text(part, part.key);
      if (read !== undefined) input = { ...input, [part.key]: read };
    } else {
      reader.unknownKey(part, INPUT_KEYS, 'input');
    }
  }
  return { input };
}

const INPUT_KEYS = ['required', 'label', 'default'];

function readBudget(reader: YamlReader, field: Field): About {
  const defaultBudgetUsd = reader.number(field, 'default_budget', USD);
  if (defaultBudgetUsd === 0) {
    const message = 'default_budget: 0 has no effect: a workflow cannot make the budget unlimited.';
    reader.warn('unused-key', field.offset, message, {
      remedy: 'Remove it. The user can run the workflow with --budget 0.',
    });
  }
  return defaultBudgetUsd ? { defaultBudgetUsd } : {};
}

function readEnvironment(reader: YamlReader, field: Field): About {
  const variables = reader.fields(field, 'environment', 'a map of names to values') ?? [];
  const good = variables.flatMap((variable): [string, string][] => {
    const problem = variableProblem(variable.key);
    if (problem) reader.error('bad-name', variable.keyOffset, `${problem}.`);
    const value = reader.text(variable, variable.key);
    return problem || value === undefined ? [] : [[variable.key, value]];
  });
  return { environment: Object.fromEntries(good) };
}

function readAgent(reader: YamlReader, field: Field, agents: Agents): About {
  const agent = readAgentNames(reader, field, agents);
  return agent === undefined ? {} : { agent };
}
