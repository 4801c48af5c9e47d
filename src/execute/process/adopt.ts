import { realpathSync } from 'node:fs';
import { changesOf } from './changes.ts';
import { isAlive } from './identity.ts';
import type { ProcessHandle } from './launch.ts';
import { type Exit, exitOf, type ProcessRecord, readExit, readRecord, UNKNOWN } from './record.ts';

/** See `RunProcesses.adopt`. */
export function adopt(folder: string): ProcessHandle | undefined {
  const record = readRecord(folder);
  if (record === undefined) return undefined;
  const real = realpathSync(folder);
  return { folder: real, record, ended: endOfAdopted(real, record) };
}

async function endOfAdopted(folder: string, record: ProcessRecord): Promise<Exit> {
  const changes = changesOf(exitOf(folder, record.identity.pid), 1000);
  try {
    return await waitForExit({
      isAlive: () => isAlive(record.identity),
      readExit: () => readExit(folder, record),
      change: () => changes.next(),
    });
  } finally {
    changes.close();
  }
}

/** The facts about a process that can be read without being its parent. */
export interface ExitProbe {
  isAlive(): boolean;
  readExit(): Exit | undefined;
  /** Resolves when it is time to look again. */
  change(): Promise<void>;
}

export async function waitForExit({ isAlive, readExit, change }: ExitProbe): Promise<Exit> {
  while (true) {
    // The order matters: the wrapper writes the exit file first and ends afterwards.
    const wasAlive = isAlive();
    const exit = readExit();
    if (exit !== undefined) return exit;
    if (!wasAlive) return UNKNOWN;
    await change();
  }
}
