import type { Agent, EndedAgent } from '../model/run.ts';
import { countWaits, WAITS, type Wait, type WaitCount, waitOf } from '../model/wait.ts';
import type { View } from './view.ts';

/** An agent in the list, and what it is up to. */
export type Listed = { readonly id: string } & (
  | { readonly kind: 'failed' | 'working'; readonly agent: Agent }
  | { readonly kind: 'waiting'; readonly agent: Agent; readonly wait: Wait }
  | { readonly kind: 'ended'; readonly agent: EndedAgent }
);

export interface Listing {
  readonly now: number;
  readonly rows: number;
  /** The agent that the user has chosen. It is always shown. */
  readonly chosen?: string | undefined;
  /** Whether agents that are over are listed, too. */
  readonly withEnded: boolean;
  /** The process that worked on the run has ended without finishing it. */
  readonly isLost?: boolean | undefined;
}

export interface ChosenAgents {
  /** All agents, in the order of their rows. */
  readonly all: readonly Listed[];
  readonly shown: readonly Listed[];
  /** The agents that are not shown. */
  readonly rest: Rest | undefined;
}

export interface Rest {
  readonly count: number;
  readonly failed: number;
  readonly working: number;
  readonly ended: number;
  readonly waits: readonly WaitCount[];
}

/**
 * The agents that fit into a number of rows. If all fit, they are in the order of their creation.
 * Otherwise those that need attention come first, and one row is left for a summary of the rest.
 */
export function chosenAgents(view: View, listing: Listing): ChosenAgents {
  const { rows, chosen } = listing;
  const created = (one: Listed) => view.places.get(one.id) ?? 0;
  const listed = listedAgents(view, listing);
  const hasAll = listed.length <= rows;
  const all = listed.toSorted(
    (a, b) => (hasAll ? 0 : importance(a) - importance(b)) || created(a) - created(b),
  );
  if (hasAll) return { all, shown: all, rest: undefined };
  const fit = Math.max(0, rows - 1);
  const place = all.findIndex(({ id }) => id === chosen);
  const first = Math.max(0, place - fit + 1);
  const shown = all.slice(first, first + fit);
  return { all, shown, rest: restOf([...all.slice(0, first), ...all.slice(first + fit)]) };
}

function listedAgents({ run }: View, { now, withEnded, isLost }: Listing): readonly Listed[] {
  const listed: Listed[] = [];
  for (const [id, agent] of run.agents) {
    const wait = waitOf(run, agent, now, !isLost);
    const kind = agent.status.kind === 'failed' ? 'failed' : 'working';
    listed.push(wait ? { id, kind: 'waiting', agent, wait } : { id, kind, agent });
  }
  if (withEnded)
    for (const [id, agent] of run.endedAgents) listed.push({ id, kind: 'ended', agent });
  return listed;
}

/** Those that need a person, those at work, those that wait, those that are over. */
function importance(listed: Listed): number {
  switch (listed.kind) {
    case 'failed':
      return 0;
    case 'working':
      return 3;
    case 'waiting':
      return listed.wait.for === 'person'
        ? 1
        : listed.wait.for === 'retry'
          ? 2
          : 4 + WAITS.indexOf(listed.wait.for);
    case 'ended':
      return 100;
  }
}

function restOf(rest: readonly Listed[]): Rest {
  const count = (kind: Listed['kind']) => rest.filter((one) => one.kind === kind).length;
  return {
    count: rest.length,
    failed: count('failed'),
    working: count('working'),
    ended: count('ended'),
    waits: countWaits(rest.flatMap((one) => (one.kind === 'waiting' ? [one.wait] : []))),
  };
}
