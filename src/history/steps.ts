/** The facts about each step of a run that its events have, without long texts. */
import type { RunEvent, RunEventOf, StepEndEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Run } from '../model/run.ts';

export interface StepFacts {
  readonly started: RunEventOf<'step-started'>;
  readonly workflow: string;
  readonly ended: Short<StepEndEvent> | undefined;
  /** The types of the events that followed for the agent, before its next step. */
  readonly followed: readonly RunEvent['type'][];
}

/** Distributes over the kinds of events. */
type Short<E> = E extends unknown ? Omit<E, 'printed' | 'worktree' | 'tree'> : never;

export class Steps {
  readonly #agents = new Map<string, AgentSteps>();
  readonly #all: StepFacts[] = [];

  follow(event: RunEvent, after: Run): void {
    if (event.type === 'step-started') {
      const { workflow = '' } = after.agents.get(event.agent) ?? {};
      this.#start({ started: event, workflow, ended: undefined, followed: NOTHING });
    } else if (event.type === 'step-taken') {
      const known = this.#agents.get(event.agent)?.steps.get(event.step);
      if (known) known.started = { ...taken(known.started, event), worker: event.worker };
    } else if (isStepEnd(event)) {
      const known = this.#agents.get(event.agent)?.steps.get(event.step);
      if (!known) return;
      known.ended = shortened(event);
      if (known.started.queued) known.started = taken(known.started, event);
    } else if ('agent' in event && event.type !== 'state-entered') {
      const newest = this.#agents.get(event.agent)?.newest;
      if (newest?.ended && newest.followed.length < MOST_FOLLOWED)
        newest.followed = [...newest.followed, event.type];
    }
  }

  find(agent: string, step: number): StepFacts | undefined {
    return this.#agents.get(agent)?.steps.get(step);
  }

  /** The steps of an agent, in their order. */
  of(agent: string): readonly StepFacts[] {
    return [...(this.#agents.get(agent)?.steps.values() ?? [])];
  }

  /** In the order of their starts. */
  get all(): readonly StepFacts[] {
    return this.#all;
  }

  #start(facts: ChangingFacts): void {
    const { agent: id, step } = facts.started;
    const agent = this.#agents.get(id) ?? {
      steps: new Map<number, ChangingFacts>(),
      newest: facts,
    };
    agent.steps.set(step, facts);
    agent.newest = facts;
    this.#all.push(facts);
    this.#agents.set(id, agent);
  }
}

type ChangingFacts = { -readonly [K in keyof StepFacts]: StepFacts[K] };

interface AgentSteps {
  readonly steps: Map<number, ChangingFacts>;
  newest: ChangingFacts;
}

/** The time in a queue is not part of the step. */
function taken(
  { queued: _, ...started }: StepFacts['started'],
  { at }: Pick<RunEvent, 'at'>,
): StepFacts['started'] {
  return { ...started, at };
}

const MOST_FOLLOWED = 20;
const NOTHING: StepFacts['followed'] = [];

/** Most steps have nothing to leave out, and then they need no copy. */
function shortened(event: StepEndEvent): Short<StepEndEvent> {
  if (!('printed' in event || 'worktree' in event || 'tree' in event)) return event;
  const { printed: _printed, worktree: _worktree, tree: _tree, ...ended } = event;
  return ended;
}
