/** The steps of a run, as `raymond show --steps` lists them. */
import { AbandonedSteps } from '../model/abandoned-steps.ts';
import { isEstimate } from '../model/estimate.ts';
import type { JournaledEvent, StepEndEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { StateName } from '../model/state-name.ts';

export interface ListedStep {
  readonly agent: string;
  readonly step: number;
  readonly state: StateName;
  readonly isPrompt: boolean;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly costUsd: number;
  /** The cost was computed with a table of prices. */
  readonly isPriced: boolean;
  readonly end: 'ended' | 'failed' | 'interrupted' | undefined;
}

export class StepList {
  readonly #steps: ListedStep[] = [];
  readonly #newest = new Map<string, number>();
  /** The agents whose newest step waits in a queue. */
  readonly #queued = new Set<string>();
  readonly #abandoned = new AbandonedSteps();

  follow(event: JournaledEvent): void {
    this.#abandoned.follow(event, event.seq);
    if (event.type === 'step-started') {
      const { agent, step, state, at: startedAt, session } = event;
      this.#newest.set(agent, this.#steps.length);
      const open = { endedAt: undefined, costUsd: 0, isPriced: false, end: undefined };
      const isPrompt = session !== undefined;
      this.#steps.push({ agent, step, state, isPrompt, startedAt, ...open });
      if (event.queued) this.#queued.add(agent);
    } else if (event.type === 'step-taken') this.#begin(event);
    else if (isStepEnd(event)) {
      // It ended in the queue.
      if (this.#queued.has(event.agent)) this.#begin(event);
      this.#end(event);
    }
  }

  get steps(): readonly ListedStep[] {
    return this.#steps;
  }

  isAbandoned({ agent, step }: ListedStep): boolean {
    return this.#abandoned.has(agent, step);
  }

  /** The time in a queue is not part of a step. */
  #begin({ agent, step: number, at }: Pick<StepEndEvent, 'agent' | 'step' | 'at'>): void {
    const index = this.#newest.get(agent) ?? -1;
    const step = this.#steps[index];
    this.#queued.delete(agent);
    if (step?.step === number) this.#steps[index] = { ...step, startedAt: at };
  }

  #end(event: StepEndEvent): void {
    const index = this.#newest.get(event.agent) ?? -1;
    const step = this.#steps[index];
    if (step?.step !== event.step) return;
    const end = ENDS[event.type];
    const cost = { costUsd: event.cost.usd, isPriced: isEstimate(event.cost) };
    this.#steps[index] = { ...step, endedAt: event.at, ...cost, end };
  }
}

const ENDS = {
  'step-ended': 'ended',
  'step-failed': 'failed',
  'step-interrupted': 'interrupted',
} as const;
