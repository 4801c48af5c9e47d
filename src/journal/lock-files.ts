/** The files of a lock: one for each generation. */
import { basename, dirname } from 'node:path';
import { type Disk, hasCode } from './disk.ts';
import { lockUnusable } from './lock-errors.ts';

/** Whether any process has left a lock there, alive or not. */
export async function hasLock(disk: Disk, path: string): Promise<boolean> {
  return (await numbersIn(disk, path)).length > 0;
}

export const generationName = (path: string, number: number): string => `${path}.${number}`;

/** The generations, in order. */
export async function numbersIn(disk: Disk, path: string): Promise<readonly number[]> {
  const names = await disk.list(dirname(path)).catch((error) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw lockUnusable(path, error);
  });
  const start = `${basename(path)}.`;
  return names
    .filter((name) => name.startsWith(start) && /^[1-9]\d{0,9}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((a, b) => a - b);
}
