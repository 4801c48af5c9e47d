/**
 * The choices for the agent in the front matter of a state. Only the agent's executor knows their
 * meaning.
 */
import type { AgentChoice, AgentDeclaration, Choices, StateChoice } from '../model/agent.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/** The choices that front matter may make, by their keys there. */
export function stateChoices(agent: AgentDeclaration): ReadonlyMap<string, AgentChoice> {
  return new Map(
    agent.choices.flatMap((choice) => (choice.inState ? [[choiceKey(choice), choice]] : [])),
  );
}

/** The key of a choice in front matter: `permission_mode` for `permissionMode`. */
export function choiceKey({ name }: AgentChoice): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The attributes that make a choice in a tag that calls a function. */
export function tagChoices(agent: AgentDeclaration): readonly string[] {
  return agent.choices.flatMap(({ name, inTags }) => (inTags ? [name] : []));
}

export function readChoice(reader: YamlReader, field: Field, choice: AgentChoice): Choices {
  const { name, inState } = choice;
  if (!inState) return {};
  const value =
    inState.kind === 'word' ? readWord(reader, field, inState) : readList(reader, field, inState);
  return value === undefined ? {} : { [name]: value };
}

type Word = Extract<StateChoice, { kind: 'word' }>;
type List = Extract<StateChoice, { kind: 'list' }>;

function readWord(reader: YamlReader, field: Field, choice: Word): string | undefined {
  const word = reader.text(field, field.key, choice.expected);
  const fault = word === undefined ? undefined : choice.fault(word);
  if (fault === undefined) return word;
  if (fault === 'unexpected') return reader.mismatch(field, field.key, choice.expected);
  reader.note(field.offset, fault);
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
