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

export class StepIndex {
  readonly #agents = new Map<string, Map<number, StepFacts>>();
  readonly #newest = new Map<string, number>();

  follow(event: RunEvent, after: Run): void {
    if (event.type === 'step-started') {
      const { workflow = '' } = after.agents.get(event.agent) ?? {};
      this.#newest.set(event.agent, event.step);
      this.#put(event.agent, event.step, {
        ...{ started: event, workflow, ended: undefined, followed: [] },
      });
    } else if (isStepEnd(event)) {
      const known = this.find(event.agent, event.step);
      const { printed: _printed, worktree: _worktree, tree: _tree, ...ended } = event;
      if (known) this.#put(event.agent, event.step, { ...known, ended });
    } else if ('agent' in event && event.type !== 'state-entered') {
      const newest = this.find(event.agent, this.#newest.get(event.agent) ?? 0);
      if (newest?.ended && newest.followed.length < MOST_FOLLOWED)
        this.#put(event.agent, newest.started.step, {
          ...newest,
          followed: [...newest.followed, event.type],
        });
    }
  }

  find(agent: string, step: number): StepFacts | undefined {
    return this.#agents.get(agent)?.get(step);
  }

  #put(agent: string, step: number, facts: StepFacts): void {
    const steps = this.#agents.get(agent) ?? new Map<number, StepFacts>();
    steps.set(step, facts);
    this.#agents.set(agent, steps);
  }
}

const MOST_FOLLOWED = 20;
