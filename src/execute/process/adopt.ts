import { realpathSync } from 'node:fs';
import { changesOf } from './changes.ts';
import { isAlive } from './identity.ts';
import type { Begun } from './launch.ts';
import { type Exit, exitOf, type ProcessRecord, readExit, readRecord, UNKNOWN } from './record.ts';

/** See `RunProcesses.adopt`. */
export function adopt(folder: string): Begun | undefined {
  const record = readRecord(folder);
  if (record === undefined) return undefined;
  const real = realpathSync(folder);
  return { folder: real, record, ended: endOfAdopted(real, record) };
}

async function endOfAdopted(folder: string, record: ProcessRecord): Promise<Exit> {
  const changes = changesOf(exitOf(folder, record.identity.pid), 1000);
  try {
    return await exitOnceOver({
      isAlive: () => isAlive(record.identity),
      readExit: () => readExit(folder, record),
      change: () => changes.next(),
    });
  } finally {
    changes.close();
  }
}

/** What can be seen of a process that is not our child. */
export interface Looks {
  isAlive(): boolean;
  readExit(): Exit | undefined;
  /** Resolves when it is time to look again. */
  change(): Promise<void>;
}

export async function exitOnceOver({ isAlive, readExit, change }: Looks): Promise<Exit> {
  while (true) {
    // In this order: it writes how it ended, and then ends.
    const wasAlive = isAlive();
    const exit = readExit();
    if (exit !== undefined) return exit;
    if (!wasAlive) return UNKNOWN;
    await change();
  }
}
