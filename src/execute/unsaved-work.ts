/**
 * Finds work that would be lost with a folder: changes in it that no commit holds, and commits that
 * nothing outside of it holds. When that cannot be told, it counts as work.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lookThroughGit, type Repository } from './git-look.ts';

export interface UnsavedWork {
  readonly path: string;
  /** As in "it …". */
  readonly why: string;
}

export async function unsavedWork(folder: string): Promise<readonly UnsavedWork[]> {
  const found = await repositoriesIn(folder);
  if (found === undefined) return [{ path: folder, why: 'has too many files to look through' }];
  const work: UnsavedWork[] = [];
  for (const repository of found) {
    const why = await lookThroughGit(repository, folder);
    if (why !== undefined) work.push({ path: repository.tree ?? repository.git, why });
  }
  return work;
}

const MOST_ENTRIES = 500_000;

/** All repositories and working trees in a folder, no link followed; undefined when there is too much. */
async function repositoriesIn(folder: string): Promise<readonly Repository[] | undefined> {
  const found: Repository[] = [];
  const isFolder = (await lstat(folder).catch(() => undefined))?.isDirectory() ?? false;
  const folders = isFolder ? [folder] : [];
  let entries = 0;
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const inside = await readdir(next, { withFileTypes: true });
    entries += inside.length;
    if (entries > MOST_ENTRIES) return undefined;
    if (inside.some(({ name }) => name === '.git'))
      found.push({ git: join(next, '.git'), tree: next });
    else if (isBare(inside)) found.push({ git: next, tree: undefined });
    for (const entry of inside)
      if (entry.isDirectory() && entry.name !== '.git') folders.push(join(next, entry.name));
  }
  return found;
}

function isBare(entries: readonly Dirent[]): boolean {
  return ['HEAD', 'objects', 'refs'].every((wanted) => entries.some(({ name }) => name === wanted));
}
