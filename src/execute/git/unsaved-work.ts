/**
 * Finds work that would be lost with a folder: uncommitted changes, and commits that exist only in
 * this folder. A repository that cannot be checked counts as work.
 */
import type { Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { walk } from '../../files/walk.ts';
import { lookThroughGit, type Repository } from './git-look.ts';

export interface UnsavedWork {
  readonly path: string;
  /** Continues a sentence that begins with the path. */
  readonly why: string;
}

interface Doomed {
  /** A working tree that was already checked. */
  readonly known?: string;
  /** Another folder that would be removed. */
  readonly also?: string;
}

export async function unsavedWork(
  folder: string,
  { known, also }: Doomed = {},
): Promise<readonly UnsavedWork[]> {
  const found = (await repositoriesIn(folder))?.filter(
    ({ tree }) => tree === undefined || tree !== known,
  );
  if (!found) return [{ path: folder, why: 'has too many files to check' }];
  const work: UnsavedWork[] = [];
  for (const repository of found) {
    const why = await lookThroughGit(repository, also === undefined ? [folder] : [folder, also]);
    if (why !== undefined) work.push({ path: repository.tree ?? repository.git, why });
  }
  return work;
}

const MAX_ENTRIES = 500_000;

/** All repositories and working trees in a folder; undefined when it has too many entries. */
async function repositoriesIn(folder: string): Promise<readonly Repository[] | undefined> {
  const found: Repository[] = [];
  for await (const here of walk(folder, MAX_ENTRIES, (path) => basename(path) === '.git')) {
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
