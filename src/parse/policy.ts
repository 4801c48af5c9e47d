import type { Agents, Choices } from '../model/agent.ts';
import type { Policy } from '../model/workflow.ts';
import { allChoices, readChoice, stateChoices, tagChoices } from './agent-choices.ts';
import { agentNamed, agentsOf, fillerOf, readAgentNames } from './chosen-agent.ts';
import { readEnsure } from './ensures.ts';
import { readEvaluator } from './evaluators.ts';
import { implicitTag } from './implicit.ts';
import { LIMITS } from './limits.ts';
import { readEntries } from './pinned-transition.ts';
import { readContext, readHandover } from './session-keys.ts';
import type { Field, YamlReader } from './yaml-reader.ts';

export const NO_POLICY: Policy = {
  forceImplicit: false,
  onInterrupt: 'continue',
  evaluators: [],
  ensures: [],
  choices: {},
};

/** Reads the policy of a prompt state. The caller handles unknown keys. */
export function readPolicy(reader: YamlReader, fields: readonly Field[], agents: Agents): Policy {
  const names = tagChoices(agents);
  const agent = readAgent(reader, fields, agents);
  let policy: Policy = agent === undefined ? NO_POLICY : { ...NO_POLICY, agent };
  for (const field of fields) {
    policy = { ...policy, ...READERS.get(field.key)?.(reader, field, names) };
  }
  const takers = agentsOf({ agents }, { policy });
  policy = { ...policy, ...readChoices(reader, fields, agents, takers) };
  policy = { ...policy, ...readFill(reader, fields, agents, takers) };
  const forced = fields.find(({ key }) => key === 'force_implicit');
  if (forced && policy.forceImplicit && reader.errorCount() === 0 && !implicitTag(policy, names)) {
    reader.error(
      'force-implicit',
      forced.keyOffset,
      'force_implicit needs exactly one allowed transition, and that one must be complete.',
      {
        remedy:
          'Keep one entry in allowed_transitions, with everything that its tag needs, or remove force_implicit.',
      },
    );
  }
  return policy;
}

function readAgent(reader: YamlReader, fields: readonly Field[], agents: Agents) {
  const field = fields.find(({ key }) => key === AGENT);
  return field && readAgentNames(reader, field, agents);
}

/**
 * The choices for the agents that may take the prompt. What only one agent understands belongs to the first
 * one, or is written as a map by agent. Everything else must be offered by all of them.
 */
function readChoices(
  reader: YamlReader,
  fields: readonly Field[],
  agents: Agents,
  names: readonly string[],
): Pick<Policy, 'choices' | 'choicesOf'> {
  const offered = new Map(
    names.map((name) => [name, stateChoices(agentNamed(agents, name)?.choices ?? [])]),
  );
  const ofAny = stateChoices(allChoices(agents));
  const [first = ''] = names;
  let choices: Choices = {};
  const choicesOf: Record<string, Choices> = {};
  const read = (name: string, key: string, field: Field): Choices => {
    const choice = offered.get(name)?.get(key);
    if (!choice) notOffered(reader, field, name, key);
    return choice ? readChoice(reader, field, choice) : {};
  };
  for (const field of fields) {
    const { key } = field;
    const known = ofAny.get(key);
    if (!known) continue;
    if (known.isOwn && reader.isMap(field)) {
      for (const entry of reader.fields(field, key, 'a map by agent', names) ?? [])
        if (names.includes(entry.key))
          choicesOf[entry.key] = { ...choicesOf[entry.key], ...read(entry.key, key, entry) };
      continue;
    }
    choices = { ...choices, ...read(first, key, field) };
    for (const name of known.isOwn ? [] : names.slice(1))
      if (!offered.get(name)?.has(key)) notOffered(reader, field, name, key);
  }
  return { choices, ...(Object.keys(choicesOf).length > 0 && { choicesOf }) };
}

/** Which model fills the placeholders. Only its agent knows the names of models. */
function readFill(
  reader: YamlReader,
  fields: readonly Field[],
  agents: Agents,
  names: readonly string[],
): Partial<Policy> {
  const field = fields.find(({ key }) => key === FILL);
  const [first] = names;
  if (!field || first === undefined) return {};
  const agent = agentNamed(agents, fillerOf(agents, names) ?? first);
  const found = agent?.choices.find((one) => one.name === agent.fills);
  if (!found) {
    notOffered(reader, field, first, FILL);
    return {};
  }
  // One model fills: it is no lane of the state.
  const { inLanes: _, ...choice } = found;
  return { fill: readChoice(reader, field, choice) };
}

/** A choice may be a limit, so it must not be ignored. */
function notOffered(reader: YamlReader, { keyOffset }: Field, agent: string, key: string): void {
  reader.error('not-offered', keyOffset, `The agent ${agent} does not offer ${key}.`, {
    remedy: 'Remove the key, or choose another agent for the state.',
  });
}

/** Which agents may take the prompt. */
const AGENT = 'agent';

/** Who fills the placeholders that have no value. */
const FILL = 'fill';

/** `choices`: the attributes of tags that make a choice for an agent. */
type ReadKey = (reader: YamlReader, field: Field, choices: readonly string[]) => Partial<Policy>;

const KEYS = {
  allowed_transitions: readAllowed,
  timeout: LIMITS.timeout,
  force_implicit: readForceImplicit,
  max_visits: LIMITS.max_visits,
  rights: LIMITS.rights,
  notes: LIMITS.notes,
  on_interrupt: readOnInterrupt,
  evaluators: readEvaluators,
  ensures: readEnsures,
  handover: readHandover,
  context: readContext,
} satisfies Readonly<Record<string, ReadKey>>;

/** The keys of front matter that do not depend on the agent. */
export type PolicyKey = keyof typeof KEYS | typeof AGENT | typeof FILL;

const READERS: ReadonlyMap<string, ReadKey> = new Map<string, ReadKey>(Object.entries(KEYS));

/** The keys of front matter: those of the language, and those of the agents. */
export function policyKeys(agents: Agents): readonly string[] {
  return [...READERS.keys(), AGENT, FILL, ...stateChoices(allChoices(agents)).keys()];
}

function readAllowed(
  reader: YamlReader,
  field: Field,
  choices: readonly string[],
): Partial<Policy> {
  const entries = reader.isEmpty(field)
    ? []
    : reader.items(field, field.key, 'a list like [{tag: goto, target: NEXT}]');
  if (!entries) return {};
  if (entries.length === 0) {
    reader.warn(
      'empty-list',
      field.keyOffset,
      'allowed_transitions is empty, so every transition is allowed.',
      {
        remedy: 'List the allowed transitions, or remove the key.',
      },
    );
    return {};
  }
  const what = 'An entry of allowed_transitions';
  return { allowed: readEntries(reader, entries, what, choices) };
}

function readForceImplicit(reader: YamlReader, field: Field): Partial<Policy> {
  const forceImplicit = reader.boolean(field, 'force_implicit');
  return forceImplicit === undefined ? {} : { forceImplicit };
}

function readOnInterrupt(reader: YamlReader, field: Field): Partial<Policy> {
  const written = reader.text(field, 'on_interrupt', 'continue or restart');
  if (written === undefined) return {};
  if (written === 'continue' || written === 'restart') return { onInterrupt: written };
  reader.mismatch(field, 'on_interrupt', 'continue or restart');
  return {};
}

function readEvaluators(
  reader: YamlReader,
  field: Field,
  choices: readonly string[],
): Partial<Policy> {
  const entries = reader.entries(field, 'a list');
  return { evaluators: entries.flatMap((entry) => readEvaluator(reader, entry, choices) ?? []) };
}

function readEnsures(
  reader: YamlReader,
  field: Field,
  choices: readonly string[],
): Partial<Policy> {
  const entries = reader.entries(field, 'a list');
  return { ensures: entries.flatMap((entry) => readEnsure(reader, entry, choices) ?? []) };
}
