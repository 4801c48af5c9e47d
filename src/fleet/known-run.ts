import type { Workflows } from '../interpret/follow.ts';
import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { type Decided, Decider } from '../run/decider.ts';
import { OpenWaits } from './open-waits.ts';

/**
 * The newest state of a run that a worker knows. The decider stays between turns, because a new one looks
 * at all agents. Whoever takes it advances it, and gives it back when that is stored. Otherwise the next
 * one begins at the known state again.
 */
export class KnownRun {
  readonly #workflows: Workflows;
  #run: Run;
  #decider: TurnDecider | undefined;

  constructor(workflows: Workflows, run: Run) {
    this.#workflows = workflows;
    this.#run = run;
  }

  get run(): Run {
    return this.#run;
  }

  take(): TurnDecider {
    const decider = this.#decider ?? new TurnDecider(this.#workflows, this.#run);
    this.#decider = undefined;
    return decider;
  }

  keep(decider: TurnDecider): void {
    this.#run = decider.run;
    this.#decider = decider;
  }

  /** The same decider, unless others have read workflows: these decide which agents are ready for a prompt. */
  withLoaded(decider: TurnDecider, news: readonly Decided[]): TurnDecider {
    const isReading = news.some(({ event }) => event.type === 'workflow-read');
    return isReading ? new TurnDecider(this.#workflows, decider.run) : decider;
  }
}

/** A decider that also knows what ends by itself. */
export class TurnDecider extends Decider {
  readonly waits: OpenWaits;

  constructor(workflows: Workflows, run: Run) {
    super(workflows, run);
    this.waits = new OpenWaits(run);
  }

  override follow(event: RunEvent): Decided {
    const decided = super.follow(event);
    this.waits.follow(decided);
    return decided;
  }
}
