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
    const isReady = agent?.status.kind === 'ready';
    const isPrompt = isReady && isPromptNext(this.#workflows, agent);
    const hasBegun = isReady && agent.steps > 0;
    this.#prompts.update(id, isReady && isPrompt, hasBegun);
    this.#scripts.update(id, isReady && !isPrompt, hasBegun);
  }

  /**
   * Offers a start to each agent until one of a kind is refused, because later ones of that kind would
   * be refused as well. An agent that waits for a usage limit is skipped, because the next one may need
   * another executor. An agent that fails at its start can make others ready, and they have their turn.
   */
  offer(start: (id: string) => 'started' | 'refused' | 'limited'): void {
    const open = new Set([this.#scripts, this.#prompts]);
    for (;;) {
      const queue = [...open].find(({ first }) => first !== undefined);
      const id = queue?.first;
      if (!queue || id === undefined) return;
      const answer = start(id);
      if (answer === 'refused') open.delete(queue);
      if (answer === 'limited' && queue.delete(id)) this.#limited.add(id);
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
  /** How many agents that had begun were taken since the last new one. */
  #passed = 0;

  /** Agents that work in a loop would keep the new ones from starting, so these sometimes come first. */
  get first(): string | undefined {
    const [begun] = this.#begun;
    const [fresh] = this.#fresh;
    return this.#passed < MOST_PASSED ? (begun ?? fresh) : (fresh ?? begun);
  }

  update(id: string, isIn: boolean, hasBegun: boolean): void {
    if (!isIn) this.delete(id);
    else if (hasBegun) {
      this.#fresh.delete(id);
      this.#begun.add(id);
    } else {
      this.#begun.delete(id);
      this.#fresh.add(id);
    }
  }

  delete(id: string): boolean {
    if (this.#fresh.delete(id)) this.#passed = 0;
    else if (this.#begun.delete(id)) this.#passed += 1;
    else return false;
    return true;
  }
}

const MOST_PASSED = 3;
