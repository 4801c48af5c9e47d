/**
 * Processes that wait for the next prompt of their agent. An agent of a run has at most one. A process
 * can have several sessions, so it also serves calls, returns and resets.
 */
import { type AcpStep, type AgentProcess, canLoad, environmentKey } from './agent-process.ts';

export class WarmProcesses {
  readonly #idle = new Map<string, { process: AgentProcess; timer: NodeJS.Timeout | undefined }>();
  readonly #ending = new Set<Promise<unknown>>();

  /** Keeps a process for its agent's next prompt. */
  keep(agent: string, process: AgentProcess): void {
    // Without a way to load them, its sessions would be lost.
    const isNeeded = !canLoad(process.abilities);
    const timer = isNeeded ? undefined : setTimeout(() => void this.#end(agent), MOST_IDLE_MS);
    timer?.unref();
    this.#idle.set(agent, { process, timer });
    const replaceable = [...this.#idle].filter(([, one]) => canLoad(one.process.abilities));
    const [oldest] = replaceable;
    if (replaceable.length > MOST_IDLE && oldest) void this.#end(oldest[0]);
  }

  /** The agent's process if it can serve the step. */
  async acquire(step: AcpStep): Promise<AgentProcess | undefined> {
    const waiting = this.#idle.get(step.agent);
    if (waiting && !waiting.process.hasEnded && canServe(waiting.process, step)) {
      clearTimeout(waiting.timer);
      this.#idle.delete(step.agent);
      return waiting.process;
    }
    // Two processes must not use a session at the same time.
    await this.#end(step.agent);
    await Promise.all(this.#ending);
    return undefined;
  }

  async close(): Promise<void> {
    for (const agent of [...this.#idle.keys()]) void this.#end(agent);
    await Promise.all(this.#ending);
  }

  #end(agent: string): Promise<unknown> {
    const waiting = this.#idle.get(agent);
    if (!waiting) return Promise.resolve();
    clearTimeout(waiting.timer);
    this.#idle.delete(agent);
    const ending = endProcess(waiting.process);
    this.#ending.add(ending);
    return ending.finally(() => this.#ending.delete(ending));
  }
}

const MOST_IDLE = 8;
const MOST_IDLE_MS = 5 * 60_000;

/** A repeated step may repeat what the process did wrong. */
function canServe({ abilities, environment }: AgentProcess, step: AcpStep): boolean {
  const isUsual = step.warm && step.previousFolder === undefined;
  return (isUsual || !canLoad(abilities)) && environment === environmentKey(step);
}

/** The protocol has no message for this. Agents keep their sessions in files after each message. */
export async function endProcess({
  launched,
  hasEnded,
}: Pick<AgentProcess, 'launched' | 'hasEnded'>): Promise<void> {
  await (hasEnded ? launched.endLeftovers() : launched.stop(END_GRACE_MS));
}

const END_GRACE_MS = 2_000;
