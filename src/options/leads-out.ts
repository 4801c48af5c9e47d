import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { isWithin } from '../files/regular-file.ts';

/**
 * Whether a path, relative to a folder and with links resolved, leads out of it. Git's own folder
 * also counts as outside, because its files are commands for git.
 */
export function leadsOut(path: string, folder: string): boolean {
  const root = realPath(folder);
  const target = realPath(resolve(folder, path));
  if (root === undefined || target === undefined || !isWithin(root, target)) return true;
  const parts = target.slice(root.length).split(sep);
  return parts.some((part) => part.toLowerCase() === '.git');
}

/** The real path of the existing part, and the rest as written; undefined after a dangling link. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    if (dirname(path) === path || lstatSync(path, { throwIfNoEntry: false })) return undefined;
    const above = realPath(dirname(path));
    return above === undefined ? undefined : join(above, basename(path));
  }
}
