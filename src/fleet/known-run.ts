import type { Workflows } from '../interpret/follow.ts';
import type { Run } from '../model/run.ts';
import type { Head } from '../postgres/head.ts';
import { type Decided, Decider } from '../run/decider.ts';

/**
 * The newest state of a run that a worker knows. The decider stays between turns, because a new one looks
 * at all agents. Whoever takes it advances it, and gives it back when that is stored. Otherwise the next
 * one begins at the known state again.
 */
export class KnownRun {
  readonly #workflows: Workflows;
  #run: Run;
  #mark: Mark;
  #decider: Decider | undefined;

  constructor(workflows: Workflows, run: Run, mark: Mark) {
    this.#workflows = workflows;
    this.#run = run;
    this.#mark = mark;
  }

  get run(): Run {
    return this.#run;
  }

  /** Its position in the chain of events. */
  get mark(): Mark {
    return this.#mark;
  }

  take(): Decider {
    const decider = this.#decider ?? new Decider(this.#workflows, this.#run);
    this.#decider = undefined;
    return decider;
  }

  keep(decider: Decider, mark: Mark): void {
    this.#run = decider.run;
    this.#mark = mark;
    this.#decider = decider;
  }

  /** The same decider, unless others have read workflows: these decide which agents are ready for a prompt. */
  withLoaded(decider: Decider, news: readonly Decided[]): Decider {
    const isReading = news.some(({ event }) => event.type === 'workflow-read');
    return isReading ? new Decider(this.#workflows, decider.run) : decider;
  }
}

/** What a position says beside the number of events. */
export type Mark = Pick<Head, 'born' | 'era' | 'link'>;
