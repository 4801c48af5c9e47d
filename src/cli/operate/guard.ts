/** The process of a guard: see `cli/guard.ts`. It outlives its worker until the lease is over. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  foldersWithProcesses,
  type ProcessIdentity,
  RunProcesses,
  signalProcess,
} from '../../execute/process/index.ts';
import { monotonicMs } from '../../fleet/monotonic.ts';
import type { GuardWord } from '../../world/fleet/guard.ts';
import { onSignals } from '../terminal/signals.ts';
import { standardInput } from '../terminal/terminal.ts';

export async function guard(): Promise<number> {
  // A guard ignores signals that are meant for its worker.
  const endSignals = onSignals(() => {});
  const told = new Told();
  void listen(told);
  while (!told.isOver && !told.isDue()) await delay(LOOK_EVERY_MS);
  if (!told.isOver) await told.endSteps();
  endSignals();
  return 0;
}

const LOOK_EVERY_MS = 50;

async function listen(told: Told): Promise<void> {
  let text = '';
  for await (const chunk of standardInput()) {
    const lines = `${text}${chunk.toString('utf8')}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) told.hear(JSON.parse(line));
  }
  // The worker was killed. Its steps may still be adopted until the lease is over.
  told.isAlone = true;
}

class Told {
  isOver = false;
  isAlone = false;
  readonly #folders = new Set<string>();
  #worker: ProcessIdentity | undefined;
  #graceMs = 0;
  #isEnding = false;
  /** By two clocks, because one of them stops while a laptop sleeps. */
  #deadline: { readonly monotonic: number; readonly wall: number } | undefined;

  hear(word: GuardWord): void {
    switch (word.kind) {
      case 'worker':
        this.#worker = word.identity;
        this.#graceMs = word.graceMs;
        break;
      case 'renew': {
        const left = word.deadline - monotonicMs();
        this.#deadline = { monotonic: word.deadline, wall: Date.now() + left };
        break;
      }
      case 'watch':
        this.#folders.add(word.folder);
        break;
      case 'unwatch':
        this.#folders.delete(word.folder);
        break;
      case 'ending':
        this.#isEnding = true;
        break;
      case 'end':
        this.isOver = true;
        break;
    }
  }

  isDue(): boolean {
    if (!this.#deadline) return this.isAlone;
    return monotonicMs() >= this.#deadline.monotonic || Date.now() >= this.#deadline.wall;
  }

  /** A worker that does not end its steps itself is suspended or hangs, and must not start others. */
  async endSteps(): Promise<void> {
    if (this.#worker && !this.#isEnding) signalProcess(this.#worker, 'SIGKILL');
    const folders = [...foldersWithProcesses([...this.#folders])];
    const graceMs = this.#graceMs;
    await Promise.all(folders.map((folder) => new RunProcesses(folder).endStrays(graceMs)));
  }
}
