import type { Agent, Run } from '../model/run.ts';
import { WAITS, type Wait, waitOf } from '../model/wait.ts';
import type { View } from './view.ts';

export interface ChosenAgents {
  readonly shown: readonly Agent[];
  /** The agents that are not shown: how many of each kind, the important kinds first. */
  readonly rest: readonly (readonly [kind: Kind, count: number])[];
}

/**
 * The agents that fit into a number of rows. If all fit, they are in the order of their creation.
 * Otherwise those that need attention come first, and one row is left for a summary of the rest.
 */
export function chosenAgents({ run, places }: View, rows: number, now: number): ChosenAgents {
  const inOrder = (agents: readonly Agent[]) =>
    agents.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  const byKind = new Map<Kind, Agent[]>(KINDS.map((kind) => [kind, []]));
  for (const [, agent] of run.agents) byKind.get(kindOf(run, agent, now))?.push(agent);
  if (run.agents.size <= rows) return { shown: inOrder([...byKind.values()].flat()), rest: [] };

  const shown: Agent[] = [];
  const rest: (readonly [Kind, number])[] = [];
  for (const [kind, agents] of byKind) {
    const some = inOrder(agents).slice(0, Math.max(0, rows - 1 - shown.length));
    shown.push(...some);
    if (some.length < agents.length) rest.push([kind, agents.length - some.length]);
  }
  return { shown, rest };
}

export type Kind = 'failed' | 'working' | Wait['for'];

/** In the order of their importance: those that need a person, those at work, those that wait. */
const KINDS: readonly Kind[] = [
  'failed',
  'person',
  'retry',
  'working',
  ...WAITS.filter((reason) => reason !== 'person' && reason !== 'retry'),
];

function kindOf(run: Run, agent: Agent, now: number): Kind {
  return agent.status.kind === 'failed' ? 'failed' : (waitOf(run, agent, now)?.for ?? 'working');
}
