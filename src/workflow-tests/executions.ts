import type { RunEvent } from '../model/event.ts';
import type { Execution } from '../parse/rehearsal-file.ts';

/**
 * Numbers the executions of each state and of each check, in the order of the journal. A step keeps its
 * number even if another one begins sooner.
 */
export class Executions {
  readonly #counts = new Map<string, number>();
  readonly #numbers = new Map<string, Pick<Execution, 'number' | 'ofAgent'>>();
  /** The command of the check that an agent executes next. */
  readonly #called = new Map<string, string>();

  journaled(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'check-called') this.#called.set(event.agent, event.run);
      if (event.type !== 'step-started') continue;
      const { agent, step, state, task } = event;
      const kind = task === 'handover' || task === 'fill' ? task : 'state';
      const what = event.task === 'check' ? ['check', this.#called.get(agent)] : [kind, state];
      const [number, ofAgent] = [this.#count(what), this.#count([...what, agent])];
      this.#numbers.set(keyOf(agent, step), { number, ofAgent });
    }
  }

  numberOf(agent: string, step: number): Pick<Execution, 'number' | 'ofAgent'> {
    return this.#numbers.get(keyOf(agent, step)) ?? { number: 1, ofAgent: 1 };
  }

  #count(what: readonly unknown[]): number {
    const key = JSON.stringify(what);
    const counted = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, counted);
    return counted;
  }
}

const keyOf = (agent: string, step: number) => `${agent} ${step}`;
