import { boot, isAlive } from './identity.ts';
import { markOf, runKey } from './mark.ts';
import { realOrSame } from './real-or-same.ts';
import { readRecord } from './record.ts';
import { system } from './system.ts';

/** The run folders that have a living process. Reads the process table once. */
export function foldersWithProcesses(folders: readonly string[]): ReadonlySet<string> {
  const table = system.survey();
  const marks = table.flatMap(({ traces: { tokens, limit } }) => [limit, ...tokens.map(markOf)]);
  const keys = new Set(marks.map((mark) => mark?.key));
  return new Set(folders.filter((folder) => keys.has(runKey(realOrSame(folder), boot()))));
}

/** Whether the command that was launched in this folder is alive. */
export function hasLivingProcess(folder: string): boolean {
  const record = readRecord(folder);
  return record !== undefined && !record.isOver && isAlive(record.identity);
}
