import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';

export interface ChangedPaths {
  readonly changed: readonly string[];
  /** A link may be in the place of their folder. */
  readonly deleted: readonly string[];
}

/**
 * The paths of files that differ from the index, from the output of `git status --porcelain=v2 -z`.
 * Nested repositories, unreadable files and very large new files are left out. Each character of a
 * path is one byte.
 */
export async function changedPaths(status: string, root: string): Promise<ChangedPaths> {
  const changed: string[] = [];
  const deleted: string[] = [];
  const found: string[] = [];
  for (const entry of status.split('\0')) {
    if (entry.startsWith('? ')) {
      // A repository in the tree has its own history.
      if (!entry.endsWith('/')) found.push(entry.slice(2));
    } else if (entry.startsWith('1 ')) {
      const [, states = '', sub = ''] = entry.split(' ', 3);
      if (states[1] === '.' || !sub.startsWith('N')) continue;
      (states[1] === 'D' ? deleted : changed).push(afterFields(entry, 8));
    } else if (entry.startsWith('u ')) changed.push(afterFields(entry, 10));
  }
  if (found.length > MOST_NEW_FILES)
    throw new Error(
      `it has ${found.length} new files; let git ignore those that are not work, or commit them`,
    );
  for (const path of found) if (await isWanted(root, path)) changed.push(path);
  return { changed, deleted };
}

const MOST_NEW_FILES = 20_000;
const MOST_BYTES = 100 * 1024 * 1024;

/** A path may contain spaces. */
function afterFields(entry: string, count: number): string {
  let at = 0;
  for (let field = 0; field < count; field++) at = entry.indexOf(' ', at) + 1;
  return entry.slice(at);
}

async function isWanted(root: string, path: string): Promise<boolean> {
  const here = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);
  try {
    const kind = await lstat(here);
    if (kind.isSymbolicLink()) return true;
    if (!kind.isFile() || kind.size > MOST_BYTES) return false;
    await access(here, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
