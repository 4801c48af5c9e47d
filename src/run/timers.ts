import type { RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Clock } from '../ports.ts';
import type { Inbox } from './inbox.ts';
import { endOfWait, type Wait, waitsOf } from './waits.ts';

/**
 * Wakes the loop when a wait is over: a pause before a retry, the deadline of a question or a join,
 * or a usage limit.
 */
export class Timers {
  readonly #clock: Clock;
  readonly #inbox: Inbox<Input>;
  readonly #cancels = new Map<string, () => void>();

  constructor(clock: Clock, inbox: Inbox<Input>) {
    this.#clock = clock;
    this.#inbox = inbox;
  }

  /** Sets the waits of a run that is resumed. */
  setAll(run: Run): void {
    for (const wait of waitsOf(run)) this.#wake(wait);
  }

  set(event: RunEvent): void {
    switch (event.type) {
      case 'usage-limited':
        this.#wake({ limit: event.executor ?? '', until: event.until });
        break;
      case 'agent-waits':
        this.#wake({ agent: event.agent, until: event.until });
        break;
      case 'agent-asked':
      case 'join-started':
        if (event.deadline !== undefined) this.#wake({ agent: event.agent, until: event.deadline });
        break;
      default:
        ignore(event);
    }
  }

  cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  #wake(wait: Wait): void {
    const { until } = wait;
    const name = 'agent' in wait ? `agent ${wait.agent}` : `limit ${wait.limit}`;
    this.#cancels.get(name)?.();
    // An overdue wait must reach the inbox before the loop finds no running step and ends the run.
    const now = this.#clock.now();
    if (until <= now) {
      this.#inbox.put(endOfWait(wait, now));
      return;
    }
    const cancel = this.#clock.at(until, () => {
      this.#cancels.delete(name);
      this.#inbox.put(endOfWait(wait, Math.max(until, this.#clock.now())));
    });
    this.#cancels.set(name, cancel);
  }
}
