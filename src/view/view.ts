/**
 * The live view of a run, as data: the fold of the run's events. `screenRows` turns it into rows of a
 * screen.
 */
import type { RunEvent } from '../model/event.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, Run } from '../model/run.ts';
import { widthOf } from '../observe/screen.ts';
import { stateText, whoText } from './agent-text.ts';

export interface View {
  readonly run: Run;
  /** The place of each agent in the order of their creation. */
  readonly places: PersistentMap<number>;
  /** The number of agents that got a place. */
  readonly created: number;
  /** Since when each agent has its status. */
  readonly since: PersistentMap<number>;
  /** The widest texts so far: columns that only grow do not jump. */
  readonly widest: Widest;
}

export interface Widest {
  readonly who: number;
  readonly state: number;
}

/** The agents of a run are in the order of their forks: the children of an agent follow it. */
export function viewOf(run: Run): View {
  const ids = [...run.agents, ...run.endedAgents].map(([id]) => ({ id, forks: forksOf(run, id) }));
  const empty = {
    run,
    places: PersistentMap.empty<number>(),
    created: 0,
    since: PersistentMap.empty<number>(),
    widest: { who: 0, state: 0 },
  };
  return ids
    .toSorted((a, b) => compareForks(a.forks, b.forks))
    .reduce<View>((view, { id }) => withAgent(view, id, run.agents.get(id)), empty);
}

export function seenEvent(view: View, event: RunEvent, after: Run): View {
  const next = { ...view, run: after };
  if (event.type === 'run-started' || event.type === 'run-resumed')
    return view.created === 0 ? viewOf(after) : next;
  if (!('agent' in event)) return next;
  const { agent: id } = event;
  const agent = after.agents.get(id);
  const isSame = agent !== undefined && agent.status === view.run.agents.get(id)?.status;
  return withAgent(isSame ? next : { ...next, since: view.since.set(id, event.at) }, id, agent);
}

/** An agent that is over keeps its place. */
function withAgent(view: View, id: string, agent: Agent | undefined): View {
  const isNew = !view.places.has(id);
  const { widest } = view;
  const who = isNew && agent ? Math.max(widest.who, widthOf(whoText(id, agent))) : widest.who;
  const state = agent ? Math.max(widest.state, widthOf(stateText(agent))) : widest.state;
  if (!isNew && state === widest.state) return view;
  return {
    ...view,
    places: isNew ? view.places.set(id, view.created) : view.places,
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
