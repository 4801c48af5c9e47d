import type { RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { deadlineOf } from '../model/tally.ts';
import type { Clock } from '../ports.ts';
import type { Inbox } from './inbox.ts';

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
    for (const [executor, until] of Object.entries(run.limits)) this.#wakeRun(executor, until);
    for (const [id, { status }] of run.agents) {
      if (status.kind === 'waiting') this.#wakeAgent(id, status.until);
      const deadline = deadlineOf(status);
      if (deadline !== undefined) this.#wakeAgent(id, deadline);
    }
  }

  set(event: RunEvent): void {
    switch (event.type) {
      case 'usage-limited':
        this.#wakeRun(event.executor ?? '', event.until);
        break;
      case 'agent-waits':
        this.#wakeAgent(event.agent, event.until);
        break;
      case 'agent-asked':
      case 'join-started':
        if (event.deadline !== undefined) this.#wakeAgent(event.agent, event.deadline);
        break;
      default:
        ignore(event);
    }
  }

  cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  #wakeAgent(agent: string, time: number): void {
    this.#wake(`agent ${agent}`, time, (at) => ({ kind: 'time-came', at, agent }));
  }

  #wakeRun(executor: string, time: number): void {
    this.#wake(`limit ${executor}`, time, (at) => ({ kind: 'usage-limit-over', at }));
  }

  #wake(name: string, time: number, input: (at: number) => Input): void {
    this.#cancels.get(name)?.();
    // An overdue wait must reach the inbox before the loop finds no running step and ends the run.
    const now = this.#clock.now();
    if (time <= now) {
      this.#inbox.put(input(now));
      return;
    }
    const cancel = this.#clock.at(time, () => {
      this.#cancels.delete(name);
      this.#inbox.put(input(Math.max(time, this.#clock.now())));
    });
    this.#cancels.set(name, cancel);
  }
}
