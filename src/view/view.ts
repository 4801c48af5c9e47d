/**
 * The live view of a run, as data: the fold of the run's events. `screenRows` turns it into rows of a
 * screen.
 */
import type { RunEvent } from '../model/event.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, Run } from '../model/run.ts';
import { widthOf } from '../observe/screen.ts';
import { whoText } from './agent-text.ts';

export interface View {
  readonly run: Run;
  /** The place of each agent in the order of their creation. */
  readonly places: PersistentMap<number>;
  /** The number of agents that got a place. */
  readonly created: number;
  /** The widest texts so far: columns that only grow do not jump. */
  readonly widest: Widest;
}

export interface Widest {
  readonly who: number;
  readonly state: number;
}

/** The agents of a run are in the order of their forks: the children of an agent follow it. */
export function viewOf(run: Run): View {
  const agents = [...run.agents].map(([, agent]) => ({ agent, forks: forksOf(run, agent.id) }));
  const empty = {
    run,
    places: PersistentMap.empty<number>(),
    created: 0,
    widest: { who: 0, state: 0 },
  };
  return agents
    .toSorted((a, b) => compareForks(a.forks, b.forks))
    .reduce<View>((view, { agent }) => withAgent(view, agent), empty);
}

export function seenEvent(view: View, event: RunEvent, after: Run): View {
  const next = { ...view, run: after };
  if (event.type === 'run-started' || event.type === 'run-resumed')
    return view.created === 0 ? viewOf(after) : next;
  if (!('agent' in event)) return next;
  const agent = after.agents.get(event.agent);
  return agent ? withAgent(next, agent) : { ...next, places: next.places.delete(event.agent) };
}

function withAgent(view: View, agent: Agent): View {
  const isNew = !view.places.has(agent.id);
  const who = isNew ? Math.max(view.widest.who, widthOf(whoText(agent))) : view.widest.who;
  const state = Math.max(view.widest.state, widthOf(agent.state));
  if (!isNew && state === view.widest.state) return view;
  return {
    ...view,
    places: isNew ? view.places.set(agent.id, view.created) : view.places,
    created: view.created + (isNew ? 1 : 0),
    widest: { who, state },
  };
}

/** The numbers of the forks that led to an agent. The name of a child ends with its number. */
function forksOf({ agents, endedAgents }: Run, id: string): readonly number[] {
  const forks: number[] = [];
  let name: string | undefined = id;
  // A forged journal may contain a cycle.
  while (name !== undefined && forks.length < MOST_FORKS) {
    forks.unshift(Number(/\d+$/.exec(name)?.[0] ?? 0));
    const { parent }: { parent?: string | undefined } =
      agents.get(name) ?? endedAgents.get(name) ?? {};
    name = parent;
  }
  return forks;
}

const MOST_FORKS = 1_000;

function compareForks(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((number, at) => number !== b[at]);
  if (i < 0) return a.length - b.length;
  return (a[i] ?? 0) - (b[i] ?? -1);
}
