/**
 * Finds work that would be lost with a folder: changes in it that no commit holds, and commits that
 * nothing outside of it holds. When that cannot be told, it counts as work.
 */
import type { Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { walk } from '../files/walk.ts';
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

/** All repositories and working trees in a folder; undefined when there is too much in it. */
async function repositoriesIn(folder: string): Promise<readonly Repository[] | undefined> {
  const found: Repository[] = [];
  for await (const here of walk(folder, MOST_ENTRIES, (path) => basename(path) === '.git')) {
    if (!here) return undefined;
    const { folder: tree, entries } = here;
    if (entries.some(({ name }) => name === '.git')) found.push({ git: join(tree, '.git'), tree });
    else if (isBare(entries)) found.push({ git: tree, tree: undefined });
  }
  return found;
}

function isBare(entries: readonly Dirent[]): boolean {
  return ['HEAD', 'objects', 'refs'].every((wanted) => entries.some(({ name }) => name === wanted));
}
