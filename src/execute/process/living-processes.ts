import { readFileSync } from 'node:fs';
import { realOrSame } from '../../files/regular-file.ts';
import { boot, isAlive } from './identity.ts';
import { limitMark, markOf, runKey, tokensOf } from './mark.ts';
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

/** The keys of the runs whose steps started this process, directly or through others. */
export function enclosingRuns(): readonly string[] {
  const marks = [...tokensOf(process.env).map(markOf), ownLimit()];
  return marks.flatMap((mark) => mark?.key ?? []);
}

/** A process that clears its environment still has the limit. */
function ownLimit() {
  if (process.platform !== 'linux') return undefined;
  return limitMark(readFileSync('/proc/self/limits', 'latin1'));
}
