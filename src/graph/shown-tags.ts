import type { Agents } from '../model/agent.ts';
import type { Tag } from '../model/tag.ts';
import type { PromptState, ScriptState, Workflow } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import {
  readMove,
  readTransition,
  STATE_ATTRIBUTES,
  stateNameProblem,
  TAG_RULES,
  type Writer,
} from '../parse/transition.ts';
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
 * The tag with a valid value for each attribute whose value only a run knows, because a shell or a
 * placeholder fills it in. An attribute without which the tag means the same is left out.
 */
export function fixedParts(
  state: PromptState | ScriptState,
  tag: Tag,
  choices: readonly string[],
): Tag {
  const isOpen = (value: string) => CHOSEN_LATER[state.kind].test(value.trim());
  const attributes = Object.entries(tag.attributes).flatMap(([name, value]) => {
    if (STATE_ATTRIBUTES.includes(name)) return [[name, nameOrOpen(value, isOpen)] as const];
    const isChecked = name in VALID || choices.includes(name);
    if (!isChecked || !isOpen(value)) return [[name, value] as const];
    const valid = VALID[name];
    return valid === undefined ? [] : [[name, valid] as const];
  });
  const body = TAG_RULES[tag.name].body === 'target' ? nameOrOpen(tag.body, isOpen) : tag.body;
  return { ...tag, attributes: Object.fromEntries(attributes), body };
}

/** The text itself, unless no state can have it as its name and a run will choose another. */
function nameOrOpen(written: string, isOpen: (value: string) => boolean): string {
  return stateNameProblem(written.trim()) && isOpen(written) ? '…' : written;
}

/**
 * Text that no author uses as a name: a placeholder, an instruction to the agent, a variable, code
 * between two prints.
 */
export const CHOSEN_LATER = {
  prompt: /\{\{|[[\]<>…\s]|\.\.\.|^(?:(?:NEXT|TARGET)_?)?STATE(?:_?NAME)?(?:\.md)?$/i,
  script: /[$%`"'\n;(){}<>!…]|\.\.\./,
};

/** A value for each checked attribute that may be chosen later; undefined to leave it out. */
const VALID: Readonly<Record<string, string | undefined>> = {
  // It belongs to a timeout_next.
  timeout: '1s',
  // Names it after the child, so that no two have the same name.
  worktree: 'true',
  base: undefined,
  of: undefined,
  to: 'later',
  rest: undefined,
};
