import type { Workflows } from '../interpret/follow.ts';
import { isPromptNext } from '../interpret/start-step.ts';
import type { Run } from '../model/run.ts';

/**
 * The agents that could start a step, in the order in which they became ready. Kept up agent by agent,
 * so that no decision has to look through all of them. Prompts and scripts queue apart: they have
 * limits of their own.
 */
export class ReadyAgents {
  readonly #workflows: Workflows;
  readonly #prompts = new Set<string>();
  readonly #scripts = new Set<string>();

  constructor(workflows: Workflows, run: Run) {
    this.#workflows = workflows;
    for (const [id] of run.agents) this.update(run, id);
  }

  update(run: Run, id: string): void {
    const agent = run.agents.get(id);
    if (agent?.status.kind !== 'ready') {
      this.#prompts.delete(id);
      this.#scripts.delete(id);
      return;
    }
    (isPromptNext(this.#workflows, agent) ? this.#prompts : this.#scripts).add(id);
  }

  /** Offers each agent its start, until one of a kind is refused: those behind it would be, too. */
  offer(start: (id: string) => boolean): void {
    for (const queue of [this.#scripts, this.#prompts]) {
      for (const id of queue) if (!start(id)) break;
    }
  }
}
