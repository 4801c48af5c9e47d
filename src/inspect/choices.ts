import type { Tag } from '../model/tag.ts';
import type { State, Workflow } from '../model/workflow.ts';
import { isOpen, type Way, waysOf } from './ways.ts';

/** One thing that a step of a state can come to. */
export interface Choice {
  readonly way: Way;
  /** What the step writes, or what its evaluator puts in. Absent: it is chosen while the step runs. */
  readonly tags: readonly Tag[] | undefined;
}

/**
 * Every choice of every state. What an evaluator tests cannot be known here, so that it fires is one
 * choice, and that none fires is another.
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
 * The workflow in which every choice can be taken as it stands: choices come from the policies, so
 * these need not be asked again, and evaluators are choices themselves.
 */
export function withoutPolicies(workflow: Workflow): Workflow {
  const free = [...workflow.states.values()].map((state) => [state.name, freed(state)] as const);
  return { ...workflow, states: new Map(free) };
}

/** What a step with these ways can write, in the author's order. */
export function writtenChoices(ways: readonly Way[]): readonly Choice[] {
  const written = ways.filter(isWritten);
  const others = written.filter(goesOn).flatMap((way) => tagOf(way) ?? []);
  let hasPaired = false;
  return written.flatMap((way): readonly Choice[] => {
    const tag = tagOf(way);
    if (!tag) return [{ way, tags: undefined }];
    if (!tag.name.startsWith('fork') || tag.attributes.next !== undefined) {
      return [{ way, tags: [tag] }];
    }
    // A policy that says nothing of next leaves it to the agent.
    if (others.length === 0) return [{ way, tags: way.origin === 'policy' ? undefined : [tag] }];
    // Forks that stand together share one way on: the next of one of them, or a goto. The worker does
    // not depend on it, so each fork is seen with one way on, and each way on with one fork.
    const beside = hasPaired ? others.slice(0, 1) : others;
    hasPaired = true;
    return beside.map((other) => ({ way, tags: [tag, other] }));
  });
}

const isWritten = (way: Way) => way.origin !== 'evaluator';

const goesOn = ({ tag, attributes }: Way) => tag === 'goto' || attributes.next !== undefined;

function tagOf(way: Way): Tag | undefined {
  const { tag: name, attributes } = way;
  if (isOpen(way)) return undefined;
  if (way.body !== undefined) return { name, attributes, body: way.body };
  return name === 'result' || name === 'ask' ? { name, attributes, body: 'any' } : undefined;
}

function overrides(state: State, ways: readonly Way[]): readonly Choice[] {
  if (state.kind !== 'prompt') return [];
  const evaluatorWays = ways.filter((way) => !isWritten(way));
  return state.policy.evaluators.flatMap(({ transition }, index) => {
    const way = evaluatorWays[index];
    return way ? [{ way, tags: [transition] }] : [];
  });
}

function freed(state: State): State {
  if (state.kind !== 'prompt') return state;
  const { allowed: _, ...policy } = state.policy;
  return { ...state, policy: { ...policy, forceImplicit: false, evaluators: [] } };
}
