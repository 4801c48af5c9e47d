/** Processes that wait for the next prompt of their agent. An agent of a run has at most one. */
interface WarmParts<P, S> {
  canServe(process: P, step: S): boolean;
  /** Whether the step has to wait until this process has ended: both would use a session. */
  collides(process: P, step: S): boolean;
  end(process: P): Promise<void>;
  /** Whether its sessions would be lost with it. Then it waits as long as it can. */
  isNeeded?(process: P): boolean;
}

export class WarmProcesses<P extends { readonly hasEnded: boolean }, S extends { agent: string }> {
  readonly #parts: WarmParts<P, S>;
  readonly #mostIdle: number;
  readonly #mostIdleMs: number;
  readonly #idle = new Map<string, { process: P; timer: NodeJS.Timeout | undefined }>();
  readonly #ending = new Map<P, Promise<void>>();

  constructor(parts: WarmParts<P, S>, mostIdle = 8, mostIdleMs = 5 * 60_000) {
    this.#parts = parts;
    this.#mostIdle = mostIdle;
    this.#mostIdleMs = mostIdleMs;
  }

  /** Keeps a process for its agent's next prompt. Above the limit, ends the one that waits longest. */
  keep(agent: string, process: P): void {
    const isNeeded = this.#parts.isNeeded?.(process) ?? false;
    const timer = isNeeded ? undefined : setTimeout(() => this.#end(agent), this.#mostIdleMs);
    timer?.unref();
    this.#idle.set(agent, { process, timer });
    const replaceable = [...this.#idle].filter((entry) => entry[1].timer !== undefined);
    const [oldest] = replaceable;
    if (replaceable.length > this.#mostIdle && oldest) this.#end(oldest[0]);
  }

  /** The agent's process if it can serve the step. Otherwise no process uses the step's session now. */
  async acquire(step: S): Promise<P | undefined> {
    const waiting = this.#idle.get(step.agent);
    if (waiting && !waiting.process.hasEnded && this.#parts.canServe(waiting.process, step)) {
      clearTimeout(waiting.timer);
      this.#idle.delete(step.agent);
      return waiting.process;
    }
    this.#end(step.agent);
    await this.#whileEnding((process) => this.#parts.collides(process, step));
    return undefined;
  }

  /** Ends the processes that wait longest until `wanted` processes are being ended. */
  makeRoom(wanted: number): void {
    for (const agent of [...this.#idle.keys()]) {
      if (this.#ending.size >= wanted) return;
      this.#end(agent);
    }
  }

  /** Ends those of the waiting processes. */
  async end(isMeant: (process: P) => boolean): Promise<void> {
    for (const [agent, { process }] of [...this.#idle]) if (isMeant(process)) this.#end(agent);
    await this.#whileEnding(isMeant);
  }

  close(): Promise<void> {
    return this.end(() => true);
  }

  async #whileEnding(isMeant: (process: P) => boolean): Promise<void> {
    const meant = [...this.#ending].filter(([process]) => isMeant(process));
    await Promise.all(meant.map(([, ending]) => ending));
  }

  #end(agent: string): void {
    const waiting = this.#idle.get(agent);
    if (!waiting) return;
    const { process, timer } = waiting;
    clearTimeout(timer);
    this.#idle.delete(agent);
    const ending = this.#parts.end(process).finally(() => this.#ending.delete(process));
    this.#ending.set(process, ending);
  }
}
