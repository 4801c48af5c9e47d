import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { COMMAND_FILES, commandFileIn } from '../files/command-files.ts';
import { isWithin } from '../files/regular-file.ts';
import { attempt } from '../model/attempt.ts';

/**
 * Whether a path, relative to a folder and with links resolved, leads out of it. The folder of Raymond
 * and files from which programs take commands also count as outside.
 */
export function leadsOut(path: string, folder: string): boolean {
  const root = realPath(folder);
  const target = realPath(resolve(folder, path));
  if (root === undefined || target === undefined || !isWithin(root, target)) return true;
  const inside = relative(root, target);
  return commandFileIn(inside, [...COMMAND_FILES, '.raymond']) !== undefined;
}

/** The real path of the existing part, and the rest as written; undefined after a dangling link. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    if (dirname(path) === path || isThere(path)) return undefined;
    const above = realPath(dirname(path));
    return above === undefined ? undefined : join(above, basename(path));
  }
}

const isThere = (path: string) => attempt(() => lstatSync(path)) !== undefined;
