/**
 * Commands beside the steps of a run, such as those that inform a user of an event. They never hold up
 * the run: few run at the same time, each for a limited time, and their output is not kept. They end
 * with the run, and belong to its processes, so a later process finds those that a crash has left.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../model/message-of.ts';
import type { LaunchedProcess, RunProcesses } from '../process/index.ts';

interface SideCommandsParts {
  readonly processes: Pick<RunProcesses, 'launch'>;
  /** For the records of the commands. Nothing else uses it. */
  readonly folder: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

interface SideCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Its standard input. */
  readonly input: string | Promise<string>;
  /** `problem` is undefined if it succeeded. */
  ended(problem: string | undefined): void;
}

export class SideCommands {
  readonly #parts: SideCommandsParts;
  readonly #running = new Set<Promise<void>>();
  readonly #waiting: SideCommand[] = [];
  readonly #hurry = new AbortController();

  constructor(parts: SideCommandsParts) {
    this.#parts = parts;
  }

  /** Starts a command now or later. Never throws. */
  start(command: SideCommand): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(command);
    else command.ended('too many commands wait');
    this.#startNext();
  }

  /** Gives the commands some time, and ends those that are left. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#hurry.abort(), LAST_MS);
    while (this.#running.size > 0) await Promise.all(this.#running);
    clearTimeout(timer);
    rmSync(this.#parts.folder, { recursive: true, force: true });
  }

  #startNext(): void {
    while (this.#running.size < MOST_RUNNING) {
      const next = this.#waiting.shift();
      if (!next) return;
      const running = this.#run(next).finally(() => {
        this.#running.delete(running);
        this.#startNext();
      });
      this.#running.add(running);
    }
  }

  async #run({ command, args, input, ended }: SideCommand): Promise<void> {
    const { processes, cwd, env } = this.#parts;
    const folder = join(this.#parts.folder, randomUUID());
    try {
      if (this.#hurry.signal.aborted) return ended('the run ended before it began');
      const text = await input;
      const launched = processes.launch({ folder, command, args, cwd, env, stdin: 'pipe' });
      launched.stdin?.end(text);
      ended(await this.#end(launched));
    } catch (error) {
      ended(messageOf(error));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Also ends the processes that the command leaves. */
  async #end(launched: LaunchedProcess): Promise<string | undefined> {
    const { timeoutMs } = this.#parts;
    const late = AbortSignal.any([this.#hurry.signal, AbortSignal.timeout(timeoutMs)]);
    const isLate = new Promise<undefined>((resolve) => {
      late.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const exit = await Promise.race([launched.ended, isLate]);
    if (!exit) {
      await launched.stop(GRACE_MS);
      return this.#hurry.signal.aborted
        ? 'it did not end with the run'
        : `it did not end within ${timeoutMs / 1000} s`;
    }
    await launched.endLeftovers(0);
    if (exit.kind === 'unstarted') return exit.reason;
    if (exit.kind !== 'exited') return undefined;
    return exit.code === 0 ? undefined : `exit code ${exit.code}`;
  }
}

const MOST_RUNNING = 4;
const MOST_WAITING = 100;
const GRACE_MS = 500;
/** After the end of the run. */
const LAST_MS = 5_000;
