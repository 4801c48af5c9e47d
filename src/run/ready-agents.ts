import type { Workflows } from '../interpret/follow.ts';
import { isPromptNext } from '../interpret/start-step.ts';
import type { Run } from '../model/run.ts';

/**
 * The agents that can start a step, in the order in which they became ready. Those that have begun their
 * work come first: an agent that a person has answered must not wait behind forty new ones. They are
 * updated one by one, so that no decision has to search all agents. Prompts and scripts have separate
 * queues, because they have separate limits.
 */
export class ReadyAgents {
  readonly #workflows: Workflows;
  readonly #prompts = new Queue();
  readonly #scripts = new Queue();
  /** Prompts of executors that have reached their usage limit. */
  readonly #limited = new Set<string>();

  constructor(workflows: Workflows, run: Run) {
    this.#workflows = workflows;
    for (const [id] of run.agents) this.update(run, id);
  }

  update(run: Run, id: string): void {
    this.#limited.delete(id);
    const agent = run.agents.get(id);
    if (agent?.status.kind !== 'ready') {
      this.#prompts.delete(id);
      this.#scripts.delete(id);
      return;
    }
    const queue = isPromptNext(this.#workflows, agent) ? this.#prompts : this.#scripts;
    queue.add(id, agent.steps > 0);
  }

  /**
   * Offers a start to each agent until one of a kind is refused, because later ones of that kind would
   * be refused as well. An agent that waits for a usage limit is skipped, because the next one may need
   * another executor.
   */
  offer(start: (id: string) => 'started' | 'refused' | 'limited'): void {
    for (const queue of [this.#scripts, this.#prompts]) {
      for (const id of queue) {
        const answer = start(id);
        if (answer === 'refused') break;
        if (answer === 'limited' && queue.delete(id)) this.#limited.add(id);
      }
    }
  }

  /** A usage limit is over. */
  limitLifted(run: Run): void {
    for (const id of [...this.#limited]) this.update(run, id);
  }
}

class Queue {
  readonly #begun = new Set<string>();
  readonly #fresh = new Set<string>();

  add(id: string, hasBegun: boolean): void {
    (hasBegun ? this.#begun : this.#fresh).add(id);
  }

  delete(id: string): boolean {
    return this.#begun.delete(id) || this.#fresh.delete(id);
  }

  *[Symbol.iterator](): Generator<string> {
    yield* this.#begun;
    yield* this.#fresh;
  }
}
