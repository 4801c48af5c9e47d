/**
 * What follows after an agent has entered a place: the cost of its own steps and of the agents that it
 * forks from there on, and the time until it is over. A place is a state with the states to which its
 * callees return: the same function is followed by other work after another caller.
 *
 * The cost of an agent that was forked earlier does not belong to a later entry. So the costs of all
 * living agents of a run can be added.
 */
import type { RunEvent } from '../model/event.ts';
import { ignore, isStepEnd } from '../model/event-kinds.ts';
import type { Agent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';

export interface After {
  readonly costUsd: number;
  readonly timeMs: number;
}

/** Where an agent is, and what it has used since it arrived there. */
export interface Standing {
  readonly agent: Agent;
  readonly place: string;
  readonly since: After;
}

export class PlaceReader {
  readonly #agents = new Map<string, Walk>();
  /** The places of states without callers, by their workflows: most entries are of few such places. */
  readonly #places = new Map<string, Map<StateName, string>>();
  #workedMs = 0;

  follow(event: RunEvent, after: Run): void {
    this.#workedMs = after.workedMs;
    if (isStepEnd(event)) {
      this.#charge(event.agent, event.cost.usd);
      return;
    }
    switch (event.type) {
      case 'run-started':
        for (const [id] of after.agents) this.#enter(id, after);
        return;
      case 'agent-forked': {
        const parent = this.#agents.get(event.parent);
        const forked = parent && { parent, entries: parent.entries.length };
        this.#agents.set(event.agent, newWalk(forked));
        this.#enter(event.agent, after);
        return;
      }
      case 'agent-moved':
      case 'agent-answered':
      case 'question-timed-out':
      case 'join-reported':
        this.#enter(event.agent, after);
        return;
      case 'run-rewound':
        for (const id of event.gone) this.#end(id);
        for (const { id } of event.agents) this.#enter(id, after);
        return;
      case 'agent-ended':
      case 'agent-stopped':
      case 'agent-failed':
        this.#end(event.agent);
        return;
      default:
        ignore<
          'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'
        >(event);
    }
  }

  /** By the place: the mean over its entries. */
  after(): ReadonlyMap<string, After> {
    const sums = new Map<string, { entries: number; costUsd: number; timeMs: number }>();
    for (const { entries, endedAt = this.#workedMs } of this.#agents.values()) {
      let costUsd = 0;
      for (const entry of entries.toReversed()) {
        costUsd += entry.costUsd;
        const sum = sums.get(entry.place) ?? { entries: 0, costUsd: 0, timeMs: 0 };
        sum.entries += 1;
        sum.costUsd += costUsd;
        sum.timeMs += Math.max(0, endedAt - entry.workedAt);
        sums.set(entry.place, sum);
      }
    }
    return new Map(
      [...sums]
        .slice(0, MOST_PLACES)
        .map(([place, { entries, costUsd, timeMs }]) => [
          place,
          { costUsd: costUsd / entries, timeMs: timeMs / entries },
        ]),
    );
  }

  /** The agents that are not over. */
  standing(run: Run): readonly Standing[] {
    return [...run.agents].map(([id, agent]) => {
      const { place, costUsd, workedAt } = this.#agents.get(id)?.entries.at(-1) ?? {
        place: placeOf(agent, run),
        costUsd: 0,
        workedAt: run.workedMs,
      };
      return { agent, place, since: { costUsd, timeMs: run.workedMs - workedAt } };
    });
  }

  #enter(id: string, run: Run): void {
    const agent = run.agents.get(id);
    if (!agent) return;
    const walk = this.#agents.get(id) ?? newWalk(undefined);
    walk.entries.push({ place: this.#placeOf(agent, run), workedAt: run.workedMs, costUsd: 0 });
    this.#agents.set(id, walk);
  }

  #placeOf(agent: Agent, run: Run): string {
    const { workflow, state, stack } = agent;
    if (stack.length > 0) return placeOf(agent, run);
    const states = this.#places.get(workflow) ?? new Map<StateName, string>();
    const place = states.get(state) ?? placeOf(agent, run);
    this.#places.set(workflow, states.set(state, place));
    return place;
  }

  #end(id: string): void {
    const walk = this.#agents.get(id);
    if (walk) walk.endedAt = this.#workedMs;
  }

  /** Charges the newest entry of the agent, and of each ancestor the newest one before its fork. */
  #charge(id: string, usd: number): void {
    const walk = this.#agents.get(id);
    let at = walk && { walk, entries: walk.entries.length };
    while (at) {
      const entry = at.walk.entries[at.entries - 1];
      if (entry) entry.costUsd += usd;
      const { forked } = at.walk;
      at = forked && { walk: forked.parent, entries: forked.entries };
    }
  }
}

interface Walk {
  readonly entries: Entry[];
  /** The agent that forked it, and the number of entries of that agent until then. */
  readonly forked: { readonly parent: Walk; readonly entries: number } | undefined;
  /** The work of the run until the agent was over. */
  endedAt: number | undefined;
}

interface Entry {
  readonly place: string;
  /** The work of the run until then. */
  readonly workedAt: number;
  /** Until the next entry. */
  costUsd: number;
}

const newWalk = (forked: Walk['forked']): Walk => ({ entries: [], forked, endedAt: undefined });

function placeOf({ workflow, state, stack }: Agent, run: Run): string {
  const returns = stack.slice(-MOST_FRAMES).map((frame) => frame.state);
  return JSON.stringify([workflow === run.workflow ? '' : workflow, state, ...returns]);
}

/** Recursion would otherwise create a place for each depth. */
const MOST_FRAMES = 3;
const MOST_PLACES = 2_000;
