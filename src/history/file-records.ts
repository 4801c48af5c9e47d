/** The recorded files before and after each step of a run, as its events name them. */
import type { JournaledEvent, RunEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Run } from '../model/run.ts';
import type { Worktree } from '../model/worktree.ts';

export interface StepFiles {
  readonly agent: string;
  readonly step: number;
  /** The directory of the agent in the step. */
  readonly cwd: string;
  readonly worktree: Worktree | undefined;
  readonly from: number;
  /** Undefined while the step is not over. */
  readonly to: number | undefined;
  /** The ids of the files that the step found and left. Undefined if there is no record. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export class FileRecords {
  readonly #steps = new Map<string, Map<number, Changing>>();
  readonly #all: Changing[] = [];

  follow(event: JournaledEvent | RunEvent, after: Run): void {
    if (event.type === 'step-started') this.#start(event, after);
    if (event.type === 'files-recorded') {
      const known = this.#steps.get(event.agent)?.get(event.step);
      if (known) known.before = event.tree;
    }
    if (!isStepEnd(event)) return;
    const known = this.#steps.get(event.agent)?.get(event.step);
    if (!known) return;
    known.to = event.at;
    known.after = event.tree;
  }

  /** In the order of their starts. */
  get all(): readonly StepFiles[] {
    return this.#all;
  }

  #start({ agent, step, at }: Extract<RunEvent, { type: 'step-started' }>, after: Run): void {
    const { cwd = after.cwd, worktree } = after.agents.get(agent) ?? {};
    const none = { to: undefined, before: undefined, after: undefined };
    const one: Changing = { agent, step, cwd, worktree, from: at, ...none };
    const known = this.#steps.get(agent) ?? new Map<number, Changing>();
    this.#steps.set(agent, known.set(step, one));
    this.#all.push(one);
  }
}

type Changing = { -readonly [K in keyof StepFiles]: StepFiles[K] };
