import { realpathSync } from 'node:fs';
import { changesOf } from './changes.ts';
import { isAlive } from './identity.ts';
import { type LaunchedProcess, launchedProcess } from './launched-process.ts';
import { type Exit, exitOf, type ProcessRecord, readExit, readRecord, UNKNOWN } from './record.ts';

/**
 * Takes over the process that a Raymond, perhaps a dead one, launched in this folder, whether it
 * runs or has ended. Nothing is returned when no command ever began here, and none will.
 */
export function adopt(folder: string): LaunchedProcess | undefined {
  const record = readRecord(folder);
  if (record === undefined) return undefined;
  const real = realpathSync(folder);
  return launchedProcess(real, record, endOfAdopted(real, record));
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
