import type { Input } from '../model/input.ts';
import type { Clock } from '../ports.ts';
import type { Inbox } from './inbox.ts';
import type { OpenWaits } from './open-waits.ts';
import { endOfWait, type Wait } from './waits.ts';

/**
 * Wakes the loop when a wait is over: a pause before a retry, the deadline of a question or a join,
 * or a usage limit.
 */
export class Alarm {
  readonly #clock: Clock;
  readonly #inbox: Inbox<Input>;
  readonly #waits: OpenWaits;
  #tried: readonly Wait[] = [];
  #cancel = () => {};

  constructor(clock: Clock, inbox: Inbox<Input>, waits: OpenWaits) {
    this.#clock = clock;
    this.#inbox = inbox;
    this.#waits = waits;
  }

  /** Reports the waits that are over. The loop must know them before it decides that nothing can continue. */
  ring(at = this.#clock.now()): void {
    this.#tried = this.#waits.over(at);
    for (const wait of this.#tried) this.#inbox.put(endOfWait(wait, at));
  }

  /** Sets the timer for the next wait that ends. Called after every decision. */
  set(): void {
    this.#cancel();
    const now = this.#clock.now();
    const next = this.#waits.nextLook(now, this.#tried);
    if (next === undefined) return;
    if (next <= now) this.ring(now);
    // A timer may be a little early.
    else this.#cancel = this.#clock.at(next, () => this.ring(Math.max(next, this.#clock.now())));
  }

  cancel(): void {
    this.#cancel();
  }
}
