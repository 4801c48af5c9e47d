/** Tags in prompts and scripts that Raymond cannot read or cannot follow. */

import { type Mention, mentionsOf } from '../graph/mentions.ts';
import { once } from '../graph/once.ts';
import { positionsIn } from '../graph/position.ts';
import { areInOneAnswer, fixedParts, writerOf } from '../graph/shown-tags.ts';
import { variableChoiceProblem } from '../interpret/agent-choice.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Tag, TagName } from '../model/tag.ts';
import { TRANSITION_TAGS } from '../model/tag.ts';
import type { Policy, Position, PromptState, ScriptState, State } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { nearest } from '../parse/nearest.ts';
import { resolveState } from '../parse/resolve.ts';
import { readTransition, TAG_RULES } from '../parse/transition.ts';
import { type Code, fault } from './codes.ts';
import type { Lint } from './rule.ts';

/** A tag with a bad attribute, without a body, or never closed. */
export function unreadableTags(lint: Lint): readonly Diagnostic[] {
  return readable(lint).flatMap((state) =>
    mentionsOf(state).flatMap((mention) => {
      const text = textOf(state).slice(mention.from, mention.to);
      if (mention.kind === 'bad') {
        // `<fork ...>` mentions a tag and is not one.
        if (state.kind === 'prompt' && /\.\.\.|…/.test(text)) return [];
        if (hasOpenAttributes(state, text)) return [];
        return unreadable(state, mention, mention.bad.problem, {});
      }
      if (mention.kind !== 'unclosed' || !namesState(lint, textOf(state), mention)) return [];
      const message = `This <${mention.name}> is never closed, so it is read as plain text.`;
      return unreadable(state, mention, message, { remedy: `Close it with </${mention.name}>.` });
    }),
  );
}

/** `<fork $attributes>`: the shell writes whole attributes, so that nobody can know them before. */
function hasOpenAttributes(state: State, tag: string): boolean {
  return state.kind === 'script' && /^<[^>"'\\]*\s(?:\$[\w{(@*]|%s|\{)/.test(tag);
}

/** Tags in capitals or with a typing error, around the name of a state. */
export function misspelledTags(lint: Lint): readonly Diagnostic[] {
  return readable(lint).flatMap((state) => {
    const text = textOf(state);
    const position = positionsIn(text, state.place);
    return [...text.matchAll(/<([A-Za-z_-]{2,20})(?:\s[^<>]*)?>([^<>]*)<\/\1\s*>/g)].flatMap(
      ({ index, 1: name = '', 2: body = '' }) => {
        if (TRANSITION_TAGS.some((tag) => tag === name)) return [];
        const spelled = name.toLowerCase().replaceAll('_', '-');
        const isCase = TRANSITION_TAGS.some((tag) => tag === spelled);
        const isState = body.trim() !== '' && 'found' in resolveState(lint.workflow, body.trim());
        const meant = isCase ? spelled : isState ? nearest(name, TRANSITION_TAGS) : undefined;
        if (meant === undefined) return [];
        return unreadable(
          state,
          position(index),
          `<${name}> is not a tag, so it is read as plain text.`,
          {
            remedy: `Write <${meant}>…</${meant}>.`,
            nearest: meant,
          },
        );
      },
    );
  });
}

/** A tag that can be read but lacks a required part, or has one that it must not have. */
export function badTransitions(lint: Lint): readonly Diagnostic[] {
  const choices = tagChoices(lint.workflow.agents);
  return readable(lint).flatMap((state) =>
    mentionsOf(state).flatMap((mention) => {
      if (mention.kind !== 'tag' || isOnlyMention(state, mention.tag)) return [];
      const read = readTransition(
        fixedParts(state, mention.tag, choices),
        choices,
        writerOf(state),
      );
      if (!read.ok) {
        return fault(codeOfBad(state), state.name, mention, `${read.message}.`, {
          remedy: `Write ${patternOf(mention.tag)}.`,
        });
      }
      const refused = state.kind === 'prompt' && refusedChoice(state, mention.tag);
      if (!refused) return [];
      return fault(codeOfBad(state), state.name, mention, `${refused}.`, {
        remedy: 'Choose another name, or give it with its value in allowed_transitions.',
      });
    }),
  );
}

/** With a policy, Raymond reminds an agent that copies the tag. Otherwise the step fails. */
function codeOfBad(state: State): Code {
  return state.kind === 'prompt' && state.policy.allowed ? 'forbidden-tag' : 'bad-transition';
}

/** A variable that the agent must not choose, in a tag that the prompt shows it. */
function refusedChoice({ policy }: PromptState, tag: Tag): string | undefined {
  return variableChoiceProblem(tag, pinnedNames(policy).get(tag.name) ?? NONE);
}

const NONE: ReadonlySet<string> = new Set();

/** The attributes that the entries of a policy fix, by tag. */
const pinnedNames = once(({ allowed = [] }: Policy) => {
  const names = new Map<TagName, Set<string>>();
  for (const { tag, attributes } of allowed) {
    const known = names.get(tag) ?? new Set();
    for (const name of Object.keys(attributes)) known.add(name);
    names.set(tag, known);
  }
  return names;
});

/** Forks in one answer with different values of next. The parent can continue at only one state. */
export function disagreeingForks(lint: Lint): readonly Diagnostic[] {
  return readable(lint).flatMap((state) => {
    const forks = mentionsOf(state).filter(isFork);
    return forks.flatMap((fork, index) => {
      const before = forks[index - 1];
      if (!before || !areInOneAnswer(state, before, fork)) return [];
      const [first, second] = [before, fork].map(({ tag }) => tag.attributes.next?.trim());
      if (first === undefined || second === undefined || first === second) return [];
      const message = `This fork has next="${second}", and the fork before it has next="${first}".`;
      return fault('forks-disagree', state.name, fork, message, {
        remedy: 'Give all forks in one answer the same next.',
      });
    });
  });
}

/** Neither a fork nor a tag beside it names the state at which the parent continues. */
export function forksWithoutNext({ ways }: Lint): readonly Diagnostic[] {
  return [...ways].flatMap(([state, own]) => {
    const isContinued = own.some(
      ({ tag, attributes }) => tag === 'goto' || tag === 'join' || attributes.next !== undefined,
    );
    if (isContinued) return [];
    return own.flatMap((way) =>
      TAG_RULES[way.tag].variables
        ? fault(
            'fork-without-next',
            state,
            way,
            `This <${way.tag}> has no next, and there is no goto and no join beside it.`,
            {
              remedy:
                'Add next="STATE", the state at which the parent continues. To wait for the child agents, write <join>STATE</join> beside the fork.',
            },
          )
        : [],
    );
  });
}

function readable({ states }: Lint): readonly (PromptState | ScriptState)[] {
  return states.filter((state) => state.kind !== 'broken');
}

const textOf = (state: PromptState | ScriptState) =>
  state.kind === 'prompt' ? state.template : state.text;

function unreadable(
  state: State,
  position: Position,
  message: string,
  details: Pick<Diagnostic, 'remedy' | 'nearest'>,
): Diagnostic {
  const code: Code = state.kind === 'script' ? 'unreadable-tag' : 'unreadable-example';
  return fault(code, state.name, position, message, details);
}

/**
 * Whether the word after an opening tag is a state. Then the author meant a tag and did not only
 * mention one.
 */
function namesState({ workflow }: Lint, text: string, { to }: Mention): boolean {
  const word = /^\s*([^\s<>"'`]+)/.exec(text.slice(to, to + 200))?.[1];
  return word !== undefined && 'found' in resolveState(workflow, word);
}

/** "The <goto></goto> tag", "<call>…</call>": a prompt may mention a tag without using it. */
function isOnlyMention(state: State, { body }: Tag): boolean {
  return state.kind === 'prompt' && ['', '...', '…'].includes(body.trim());
}

function patternOf({ name }: Tag): string {
  const { body, required } = TAG_RULES[name];
  const attributes = required.map((attribute) => ` ${attribute}="…"`).join('');
  return `<${name}${attributes}>${body}</${name}>`;
}

type ForkMention = Extract<Mention, { kind: 'tag' }>;

function isFork(mention: Mention): mention is ForkMention {
  return mention.kind === 'tag' && TAG_RULES[mention.tag.name].variables;
}
