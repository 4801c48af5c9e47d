import type { RunEvent, RunEventOf } from './event.ts';

/** The steps that rewinds of a run have abandoned. A rewind that was undone abandons nothing. */
export class AbandonedSteps {
  readonly #byRewind = new Map<number, RunEventOf<'run-rewound'>['abandoned']>();

  /** `seq` is the number of the event. */
  follow(event: RunEvent, seq: number): void {
    if (event.type !== 'run-rewound') return;
    if (event.undoes !== undefined) this.#byRewind.delete(event.undoes);
    this.#byRewind.set(seq, event.abandoned);
  }

  has(agent: string, step: number): boolean {
    for (const abandoned of this.#byRewind.values())
      if (abandoned.some((one) => one.agent === agent && one.first <= step && step <= one.last))
        return true;
    return false;
  }
}
