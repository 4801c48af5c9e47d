/**
 * The choices for the agent in the front matter of a state. Only the agent's executor knows their
 * meaning.
 */
import type { AgentChoice, Agents, Choices, StateChoice } from '../model/agent.ts';
import { withoutRepeats } from './chosen-agent.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/** The choices that front matter may make for some of the agents, by their keys there. */
export function stateChoices(choices: readonly AgentChoice[]): ReadonlyMap<string, AgentChoice> {
  return new Map(
    choices.flatMap((choice) => (choice.inState ? [[choiceKey(choice), choice]] : [])),
  );
}

/** The choice of an agent, and those that any of them offers. Several agents may offer a choice of one name. */
export function allChoices({ choice: usual, all }: Agents): readonly AgentChoice[] {
  const byName = new Map<string, AgentChoice>();
  for (const choice of [usual, ...all.flatMap(({ choices }) => choices)]) {
    if (!byName.has(choice.name)) byName.set(choice.name, choice);
  }
  return [...byName.values()];
}

/** The key of a choice in front matter: `permission_mode` for `permissionMode`. */
export function choiceKey({ name }: AgentChoice): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The attributes that make a choice in a tag that calls a function. */
export function tagChoices(agents: Agents): readonly string[] {
  return allChoices(agents).flatMap(({ name, inTags }) => (inTags ? [name] : []));
}

export function readChoice(reader: YamlReader, field: Field, choice: AgentChoice): Choices {
  const value = readValue(reader, field, choice);
  return value === undefined ? {} : { [choice.name]: value };
}

function readValue(reader: YamlReader, field: Field, { inState, inLanes }: AgentChoice) {
  if (!inState) return undefined;
  if (inState.kind === 'list') return readList(reader, field, inState);
  if (!inLanes || !reader.isList(field)) return readWord(reader, field, field.key, inState);
  const items = reader.items(field, field.key, inState.expected) ?? [];
  if (items.length === 0) return reader.mismatch(field, field.key, inState.expected);
  const words = items.flatMap((item) => readWord(reader, item, field.key, inState) ?? []);
  const lanes = withoutRepeats(reader, field, words);
  return lanes.length > 1 ? lanes : lanes[0];
}

type Word = Extract<StateChoice, { kind: 'word' }>;
type List = Extract<StateChoice, { kind: 'list' }>;

function readWord(reader: YamlReader, item: Item, key: string, choice: Word): string | undefined {
  const word = reader.text(item, key, choice.expected);
  const fault = word === undefined ? undefined : choice.fault(word);
  if (fault === undefined) return word;
  if (fault === 'unexpected') return reader.mismatch(item, key, choice.expected);
  reader.note(item.offset, fault);
  return fault.severity === 'error' ? undefined : word;
}

function readList(reader: YamlReader, field: Field, choice: List): readonly string[] | undefined {
  if (reader.isEmpty(field)) return [];
  const items = reader.items(field, field.key, choice.expected);
  return items?.flatMap((item) => readItem(reader, field.key, item, choice) ?? []);
}

function readItem(
  reader: YamlReader,
  key: string,
  item: Item,
  { item: { expected, pattern } }: List,
): string | undefined {
  const text = reader.text(item, `An entry of ${key}`, expected);
  if (text === undefined || pattern.test(text)) return text;
  return reader.mismatch(item, `An entry of ${key}`, expected);
}
