/** Which agents may take a prompt: the choice of its state, of its workflow, or else of the run. */
import {
  type AgentDeclaration,
  type Agents,
  type ChoiceLevels,
  type Choices,
  type Lane,
  laneName,
} from '../model/agent.ts';
import type { PromptState, Workflow } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { nearest, suggestion } from './nearest.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/** The names of the agents that may take a prompt, in order. */
export function agentsOf(
  { agents }: Pick<Workflow, 'agents'>,
  { policy }: Pick<PromptState, 'policy'>,
): readonly string[] {
  return policy.agent ?? [agents.usual, ...(agents.others ?? [])];
}

/** The first of the agents that can be asked to fill placeholders. */
export function fillerOf(agents: Agents, names: readonly string[]): string | undefined {
  return names.find((name) => agentNamed(agents, name)?.fills !== undefined);
}

/** A prompt, and the choices from outside of its state. */
export interface ChoicePlace {
  readonly workflow: Workflow;
  readonly state: Pick<PromptState, 'name' | 'policy'>;
  /** The choices of the run. */
  readonly run: Choices;
  /** The agent for which the user made them. */
  readonly usual: string;
  /** The choices in the tag that led to the state. */
  readonly tag: Choices;
}

/** The lanes of a prompt, in order: each agent, with each of the alternatives that are chosen for it. */
export function lanesOf(place: ChoicePlace): readonly Lane[] {
  const { workflow, state } = place;
  const lanes = agentsOf(workflow, state).flatMap((name): readonly Lane[] => {
    const agent = agentNamed(workflow.agents, name);
    return agent ? lanesOfAgent(agent, levelsFor(agent, place)) : [{ agent: name, choices: {} }];
  });
  return [...new Map(lanes.map((lane) => [laneName(lane), lane])).values()];
}

function lanesOfAgent(agent: AgentDeclaration, { run, state, tag }: ChoiceLevels): readonly Lane[] {
  let lanes: readonly Lane[] = [{ agent: agent.name, choices: {} }];
  for (const { name, inLanes } of agent.choices) {
    const values = tag[name] ?? state[name] ?? run[name];
    if (!inLanes || !isList(values)) continue;
    lanes = lanes.flatMap((lane) =>
      values.map((value) => ({ ...lane, choices: { ...lane.choices, [name]: value } })),
    );
  }
  return lanes;
}

/** The choices for a turn that a lane takes. */
export function choicesOfLane(
  agent: AgentDeclaration,
  place: ChoicePlace,
  ofLane: Choices,
): ChoiceLevels {
  const { run, state, tag } = levelsFor(agent, place);
  const lists = new Set(agent.choices.flatMap(({ name, inLanes }) => (inLanes ? [name] : [])));
  const single = (choices: Choices) =>
    Object.fromEntries(
      Object.entries(choices).filter(([name, value]) => !(lists.has(name) && isList(value))),
    );
  return { run: single(run), state: { ...single(state), ...ofLane }, tag };
}

/** What a state or a tag chooses for one agent only, it chooses for the first one, unless it names another. */
function levelsFor(agent: AgentDeclaration, place: ChoicePlace): ChoiceLevels {
  const { workflow, state, run, usual, tag } = place;
  const [first = usual] = agentsOf(workflow, state);
  const { choices, choicesOf } = state.policy;
  return {
    run: choicesFor(agent, usual, run),
    state: { ...choicesFor(agent, first, choices), ...choicesOf?.[agent.name] },
    tag: choicesFor(agent, first, tag),
  };
}

function isList(value: Choices[string] | undefined): value is readonly string[] {
  return Array.isArray(value);
}

export function agentNamed({ all }: Agents, name: string): AgentDeclaration | undefined {
  return all.find((agent) => agent.name === name);
}

/** The agents that reach the same usage limits as this one. */
export function sharingLimits({ all }: Agents, name: string): readonly string[] {
  const provider = all.find((agent) => agent.name === name)?.provider;
  if (provider === undefined) return [name];
  return all.filter((agent) => agent.provider === provider).map((agent) => agent.name);
}

/** The agents of a workflow whose author may have chosen some of them. */
export function withUsual(agents: Agents, chosen: readonly string[] | undefined): Agents {
  const [usual, ...others] = chosen ?? [];
  return usual === undefined ? agents : { ...agents, usual, others };
}

/**
 * The choices of a run that apply to an agent. Names of models and similar values mean something to one
 * agent only, and `usual` is the one for which the user chose them.
 */
export function choicesFor(agent: AgentDeclaration, usual: string, choices: Choices): Choices {
  if (agent.name === usual) return choices;
  const own = new Set(agent.choices.flatMap(({ name, isOwn }) => (isOwn ? [name] : [])));
  return Object.fromEntries(Object.entries(choices).filter(([name]) => !own.has(name)));
}

/** Reads the name of an agent, or a list of them. They must exist. */
export function readAgentNames(
  reader: YamlReader,
  field: Field,
  agents: Agents,
): readonly string[] | undefined {
  const expected = 'the name of an agent, or a list of them';
  const items = reader.isList(field) ? reader.items(field, field.key, expected) : [field];
  if (!items || items.length === 0) return reader.mismatch(field, field.key, expected);
  const names = items.flatMap((item) => readAgentName(reader, item, field.key, agents) ?? []);
  return names.length === 0 ? undefined : withoutRepeats(reader, field, names);
}

/** A second lane like the first one would fail like it. */
export function withoutRepeats(
  reader: YamlReader,
  { key, offset }: Field,
  names: readonly string[],
): readonly string[] {
  const single = [...new Set(names)];
  if (single.length < names.length)
    reader.warn('duplicate-lane', offset, `${key} has the same name twice.`, {
      remedy: 'Remove one of them: each is an alternative to the others.',
    });
  return single;
}

function readAgentName(
  reader: YamlReader,
  item: Item,
  key: string,
  { all }: Agents,
): string | undefined {
  const written = reader.text(item, key, 'the name of an agent');
  const names = all.map(({ name }) => name);
  if (written === undefined || names.includes(written)) return written;
  const message = `There is no agent "${clip(written)}".`;
  const details = suggestion(nearest(written, names), `Name one of ${names.join(', ')}.`);
  return reader.error('unknown-agent', item.offset, message, details);
}
