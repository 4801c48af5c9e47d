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
  return launchedProcess(real, record, endOf(real, record));
}

async function endOf(folder: string, record: ProcessRecord): Promise<Exit> {
  const changes = changesOf(exitOf(folder, record.identity.pid), 1000);
  try {
    while (true) {
      // In this order: it writes how it ended, and then ends.
      const wasAlive = isAlive(record.identity);
      const exit = readExit(folder, record);
      if (exit !== undefined) return exit;
      if (!wasAlive) return UNKNOWN;
      await changes.next();
    }
  } finally {
    changes.close();
  }
}
