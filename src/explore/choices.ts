import { isOpen, type Way, waysOf } from '../graph/ways.ts';
import type { Tag } from '../model/tag.ts';
import type { AllowedTransition, State, Workflow } from '../model/workflow.ts';
import { TAG_RULES } from '../parse/transition.ts';

/** One possible outcome of a step of a state. */
export interface Choice {
  readonly way: Way;
  /** The tags that the step writes, or that its evaluator or failed check inserts. Absent: chosen while the step runs. */
  readonly tags: readonly Tag[] | undefined;
  /** The policy entries that allow it; absent without a policy. */
  readonly entries?: readonly AllowedTransition[];
}

/**
 * Every choice of every state. Exploration cannot know whether an evaluator fires or a check fails, so
 * both outcomes are choices.
 */
export function choicesOf(workflow: Workflow): ReadonlyMap<State['name'], readonly Choice[]> {
  const choices = new Map<State['name'], readonly Choice[]>();
  for (const state of workflow.states.values()) {
    const ways = waysOf(workflow, state);
    choices.set(state.name, [...writtenChoices(ways), ...overrides(state, ways)]);
  }
  return choices;
}

/**
 * The state with which a choice can be taken as it is. Its policy keeps only the entries that allow the
 * choice, so that a long policy is not searched each time. The effects of evaluators and failed checks
 * are choices themselves, so both are removed. No model fills placeholders.
 */
export function playable(state: State, { entries }: Choice): State {
  if (state.kind !== 'prompt') return state;
  const { allowed: _, fill: __, ...policy } = state.policy;
  const own = { ...policy, forceImplicit: false, evaluators: [], ensures: [] };
  return { ...state, policy: entries ? { ...own, allowed: entries } : own };
}

/** The choices of a step with these ways, in the author's order. */
export function writtenChoices(ways: readonly Way[]): readonly Choice[] {
  const written = ways.filter(isWritten);
  const continuations = written.filter(namesContinuation);
  const others = continuations.flatMap((way) => {
    const tag = tagOf(way);
    return tag ? [{ tag, way }] : [];
  });
  let hasPaired = false;
  return written.flatMap((way): readonly Choice[] => {
    const tag = tagOf(way);
    if (!tag) return [{ way, tags: undefined }];
    if (!tag.name.startsWith('fork') || tag.attributes.next !== undefined) {
      return [{ way, tags: [tag], ...entriesOf(way) }];
    }
    // A continuation that is chosen while the step runs leaves the fork open.
    if (others.length === 0) return [{ way, tags: continuations.length > 0 ? undefined : [tag] }];
    // Forks in one answer share one continuation: the next of one of them, a goto, or a join. The
    // child does not depend on it. So each fork is combined with one continuation, and each
    // continuation with one fork.
    const beside = hasPaired ? others.slice(0, 1) : others;
    hasPaired = true;
    return beside.map((other) => ({
      way,
      tags: [tag, other.tag],
      ...entriesOf(way, other.way),
    }));
  });
}

/** Exploration assumes that a payload fits its schema: what it contains decides nothing. */
function entriesOf(...ways: readonly Way[]): Pick<Choice, 'entries'> {
  const entries = ways.flatMap(({ entry }) => {
    if (!entry) return [];
    const { schema: _, ...parts } = entry;
    return [parts];
  });
  return entries.length > 0 ? { entries } : {};
}

const isWritten = ({ origin }: Way) => origin !== 'evaluator' && origin !== 'ensures';

/** Under a policy, a fork must not take the next of another entry. */
const namesContinuation = ({ tag, attributes, entry }: Way) =>
  tag === 'goto' ||
  tag === 'join' ||
  (!entry && TAG_RULES[tag].variables && attributes.next !== undefined);

function tagOf(way: Way): Tag | undefined {
  const { tag: name, attributes } = way;
  if (isOpen(way)) return undefined;
  if (way.body !== undefined) return { name, attributes, body: way.body };
  return name === 'result' || name === 'ask' ? { name, attributes, body: 'any' } : undefined;
}

function overrides(state: State, ways: readonly Way[]): readonly Choice[] {
  if (state.kind !== 'prompt') return [];
  const overriding = ways.filter((way) => !isWritten(way));
  const { evaluators, ensures } = state.policy;
  const transitions = [
    ...evaluators.map(({ transition }) => transition),
    ...ensures.flatMap(({ otherwise }) => otherwise ?? []),
  ];
  return transitions.flatMap((transition, index) => {
    const way = overriding[index];
    if (!way) return [];
    // The author wrote this transition, not the agent: the policy allows all of it.
    const { name: tag, body, attributes } = transition;
    const { line, column } = way;
    return [{ way, tags: [transition], entries: [{ tag, body, attributes, line, column }] }];
  });
}
