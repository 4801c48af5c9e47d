import { type Dirent, readdirSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

interface Walked {
  readonly folder: string;
  readonly entries: readonly Dirent[];
}

/**
 * A folder and all folders in it, except skipped ones. No link is followed, and a path that is not
 * a folder yields nothing. Ends with `undefined` after `most` entries.
 */
export async function* walk(
  root: string,
  most: number,
  skip: (folder: string) => boolean,
): AsyncGenerator<Walked | undefined> {
  const isFolder = (await lstat(root).catch(() => undefined))?.isDirectory() ?? false;
  const open = isFolder ? [root] : [];
  let count = 0;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = await readdir(folder, { withFileTypes: true });
    count += entries.length;
    if (count > most) return yield undefined;
    yield { folder, entries };
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !skip(path)) open.push(path);
    }
  }
}

/**
 * The paths of all files in a folder and its subfolders, except those that vanish in the meantime or
 * cannot be read.
 */
export function filesUnder(root: string): readonly string[] {
  const files: string[] = [];
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) open.push(path);
      else files.push(path);
    }
  }
  return files;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** A folder and all folders above it, the innermost first. */
export function withParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}
