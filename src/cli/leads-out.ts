import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { isWithin } from '../files/regular-file.ts';

/**
 * Whether a path, as seen from a folder, leads out of it, links resolved. Git's own folder is out, too:
 * its files are commands for git.
 */
export function leadsOut(path: string, folder: string): boolean {
  const root = real(folder);
  const target = real(resolve(folder, path));
  if (!isWithin(root, target)) return true;
  return target
    .slice(root.length)
    .split(sep)
    .some((part) => part.toLowerCase() === '.git');
}

/** The real path of what exists of it, and the rest as it is written. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), basename(path));
  }
}
