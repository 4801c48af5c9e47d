import type { Tag } from '../model/tag.ts';
import type { Evaluator, State, Workflow } from '../model/workflow.ts';
import { isOpen, type Way, waysOf } from './ways.ts';

/** One thing that a step of a state can come to. */
export interface Choice {
  readonly way: Way;
  /** What the step writes, or what its evaluator puts in. Absent: it is chosen while the step runs. */
  readonly tags: readonly Tag[] | undefined;
  /** The workflow in which exactly this happens: its evaluators are decided. */
  readonly workflow: Workflow;
}

/**
 * Every choice of every state. What an evaluator tests cannot be known here, so each is a choice: one
 * workflow in which none fires, and one for each in which it always does.
 */
export function choicesOf(workflow: Workflow): ReadonlyMap<State['name'], readonly Choice[]> {
  const plain = withStates(workflow, [...workflow.states.values()].map(withoutEvaluators));
  const choices = new Map<State['name'], readonly Choice[]>();
  for (const state of workflow.states.values()) {
    const ways = waysOf(workflow, state);
    choices.set(state.name, [...writtenChoices(ways, plain), ...overrides(plain, state, ways)]);
  }
  return choices;
}

/** What a step with these ways can write, in the author's order. */
export function writtenChoices(ways: readonly Way[], workflow: Workflow): readonly Choice[] {
  return ways.filter(isWritten).flatMap((way) => choicesOfWay(way, ways, workflow));
}

const isWritten = (way: Way) => way.origin !== 'evaluator';

function choicesOfWay(way: Way, ways: readonly Way[], workflow: Workflow): readonly Choice[] {
  const tag = tagOf(way);
  if (!tag) return [{ way, tags: undefined, workflow }];
  if (!tag.name.startsWith('fork') || tag.attributes.next !== undefined) {
    return [{ way, tags: [tag], workflow }];
  }
  // Forks that stand together share one way on: the next of one of them, or a goto.
  const others = ways.filter((other) => isWritten(other) && goesOn(other)).flatMap(tagOrNone);
  if (others.length === 0) {
    // A policy that says nothing of next leaves it to the agent.
    return [{ way, tags: way.origin === 'policy' ? undefined : [tag], workflow }];
  }
  return others.map((other) => ({ way, tags: [tag, other], workflow }));
}

const goesOn = ({ tag, attributes }: Way) => tag === 'goto' || attributes.next !== undefined;

const tagOrNone = (way: Way) => tagOf(way) ?? [];

function tagOf(way: Way): Tag | undefined {
  const { tag: name, attributes } = way;
  if (isOpen(way)) return undefined;
  if (way.body !== undefined) return { name, attributes, body: way.body };
  return name === 'result' || name === 'ask' ? { name, attributes, body: 'any' } : undefined;
}

function overrides(plain: Workflow, state: State, ways: readonly Way[]): readonly Choice[] {
  if (state.kind !== 'prompt') return [];
  const evaluatorWays = ways.filter((way) => !isWritten(way));
  return state.policy.evaluators.flatMap(({ transition, line }, index) => {
    const way = evaluatorWays[index];
    if (!way) return [];
    const always: Evaluator = { kind: 'matches', pattern: '', transition, line };
    const { allowed: _, ...policy } = state.policy;
    const fired = { ...state, policy: { ...policy, evaluators: [always] } };
    return [{ way, tags: [transition], workflow: withStates(plain, [fired]) }];
  });
}

function withoutEvaluators(state: State): State {
  if (state.kind !== 'prompt') return state;
  return { ...state, policy: { ...state.policy, evaluators: [] } };
}

function withStates(workflow: Workflow, states: readonly State[]): Workflow {
  return {
    ...workflow,
    states: new Map([...workflow.states, ...states.map((state) => [state.name, state] as const)]),
  };
}
