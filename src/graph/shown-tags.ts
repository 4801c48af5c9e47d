import type { Agents } from '../model/agent.ts';
import type { Tag } from '../model/tag.ts';
import type { PromptState, ScriptState, Workflow } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { readMove, readTransition, type Writer } from '../parse/transition.ts';
import { type Mention, mentionsOf } from './mentions.ts';
import { once } from './once.ts';

export type Shown = Extract<Mention, { kind: 'tag' }> & {
  /** The attributes whose value only a run knows. */
  readonly open: readonly string[];
};

/** The well-formed tags of a text. Lint reports the others. */
export function shownTags(
  { agents }: Pick<Workflow, 'agents'>,
  state: PromptState | ScriptState,
): readonly Shown[] {
  return shownTo(agents)(state);
}

const shownTo = once((agents: Agents) => {
  const choices = tagChoices(agents);
  return once((state: PromptState | ScriptState) =>
    mentionsOf(state).flatMap((mention): readonly Shown[] => {
      if (mention.kind !== 'tag') return [];
      const tag = fixedParts(state, mention.tag, choices);
      const open = Object.entries(mention.tag.attributes).filter(([, value]) =>
        FILLED_IN[state.kind].test(value),
      );
      return readTransition(tag, choices, writerOf(state)).ok
        ? [{ ...mention, tag, open: open.map(([name]) => name) }]
        : [];
    }),
  );
});

/** A prompt shows tags that its agent writes. A script prints its own. */
export const writerOf = ({ kind }: PromptState | ScriptState): Writer =>
  kind === 'prompt' ? 'agent' : 'author';

/** Values that a shell or a placeholder fills in. */
const FILLED_IN = { script: /[$`%]/, prompt: /\{\{/ };

/**
 * The tags grouped into answers: neighbouring forks, and the goto or join beside them. Every
 * other tag is an answer by itself.
 */
export function shownAnswers(
  workflow: Pick<Workflow, 'agents'>,
  state: PromptState | ScriptState,
): readonly (readonly Shown[])[] {
  const choices = tagChoices(workflow.agents);
  const neighbours: Shown[][] = [];
  for (const shown of shownTags(workflow, state)) {
    const last = neighbours.at(-1);
    const before = last?.at(-1);
    if (last && before && areInOneAnswer(state, before, shown)) last.push(shown);
    else neighbours.push([shown]);
  }
  return neighbours.flatMap((group) => {
    const tags = group.map(({ tag }) => tag);
    return readMove({ tags, bad: [] }, choices, writerOf(state)).ok
      ? [group]
      : group.map((shown) => [shown]);
  });
}

/** Nothing between two tags chooses one or the other, so that one answer can contain both. */
export function areInOneAnswer(state: PromptState | ScriptState, a: Mention, b: Mention): boolean {
  const text = state.kind === 'prompt' ? state.template : state.text;
  const between = text.slice(a.to, b.from);
  return state.kind === 'prompt'
    ? /^[\s`*-]*$/.test(between)
    : !/\b(?:if|else|elif|elseif|fi|case|exit|return|goto|switch)\b|;;|\|\||[{}]/i.test(between);
}

/**
 * The tag without attributes whose value only a run knows, because a shell or a placeholder fills it
 * in, and which would be checked. A timeout keeps a value, because it belongs to its timeout_next.
 */
export function fixedParts(
  state: PromptState | ScriptState,
  tag: Tag,
  choices: readonly string[],
): Tag {
  const isOpen = ([name, value]: readonly [string, string]) =>
    FILLED_IN[state.kind].test(value) && (CHECKED.includes(name) || choices.includes(name));
  const written = Object.entries(tag.attributes);
  if (!written.some(isOpen)) return tag;
  const fixed = written.flatMap((attribute): readonly (readonly [string, string])[] => {
    if (!isOpen(attribute)) return [attribute];
    return attribute[0] === 'timeout' ? [['timeout', '1s']] : [];
  });
  return { ...tag, attributes: Object.fromEntries(fixed) };
}

const CHECKED: readonly string[] = ['of', 'rest', 'timeout'];
