import type { Agents } from '../model/agent.ts';
import type { Tag } from '../model/tag.ts';
import type { PromptState, ScriptState, Workflow } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { readTransition } from '../parse/transition.ts';
import { type Mention, mentionsOf } from './mentions.ts';
import { once } from './once.ts';

export type Shown = Extract<Mention, { kind: 'tag' }>;

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
      return readTransition(tag, choices).ok ? [{ ...mention, tag }] : [];
    }),
  );
});

/**
 * The tag without attributes whose value only a run knows, because a shell or a placeholder fills it
 * in, and which would be checked. A timeout keeps a value, because it belongs to its timeout_next.
 */
export function fixedParts(
  state: PromptState | ScriptState,
  tag: Tag,
  choices: readonly string[],
): Tag {
  const filledIn = state.kind === 'script' ? /[$`%]/ : /\{\{/;
  const isOpen = ([name, value]: readonly [string, string]) =>
    filledIn.test(value) && (CHECKED.includes(name) || choices.includes(name));
  const written = Object.entries(tag.attributes);
  if (!written.some(isOpen)) return tag;
  const fixed = written.flatMap((attribute): readonly (readonly [string, string])[] => {
    if (!isOpen(attribute)) return [attribute];
    return attribute[0] === 'timeout' ? [['timeout', '1s']] : [];
  });
  return { ...tag, attributes: Object.fromEntries(fixed) };
}

const CHECKED: readonly string[] = ['of', 'rest', 'timeout'];
