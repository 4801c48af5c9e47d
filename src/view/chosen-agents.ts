import type { Agent, AgentStatus } from '../model/run.ts';
import { asksPermission } from '../model/tally.ts';
import type { View } from './view.ts';

export interface ChosenAgents {
  readonly shown: readonly Agent[];
  /** The agents that are not shown: how many of each kind, the important kinds first. */
  readonly rest: readonly (readonly [kind: string, count: number])[];
}

/**
 * The agents that fit into a number of rows. If all fit, they are in the order of their creation.
 * Otherwise those that need attention come first, and one row is left for a summary of the rest.
 */
export function chosenAgents({ run, places }: View, rows: number): ChosenAgents {
  const inOrder = (agents: readonly Agent[]) =>
    agents.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  const byKind = new Map<Kind, Agent[]>(KINDS.map((kind) => [kind, []]));
  for (const [, agent] of run.agents) byKind.get(kindOf(agent.status))?.push(agent);
  if (run.agents.size <= rows) return { shown: inOrder([...byKind.values()].flat()), rest: [] };

  const shown: Agent[] = [];
  const rest: (readonly [string, number])[] = [];
  for (const [kind, agents] of byKind) {
    const some = inOrder(agents).slice(0, Math.max(0, rows - 1 - shown.length));
    shown.push(...some);
    if (some.length < agents.length) rest.push([kind, agents.length - some.length]);
  }
  return { shown, rest };
}

/** In the order of their importance. */
const KINDS = ['failed', 'asking', 'retrying', 'running', 'joining', 'ready'] as const;
type Kind = (typeof KINDS)[number];

function kindOf(status: AgentStatus): Kind {
  const { kind } = status;
  if (asksPermission(status)) return 'asking';
  if (kind === 'waiting') return 'retrying';
  return kind === 'deciding' ? 'ready' : kind;
}
