/** A worktree as git keeps it on disk, read without git: an agent may have changed the files. */
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { firstLine, linkedFolder } from '../../files/git-file.ts';

export type TreeOnDisk =
  /** Git can make a tree here. */
  | { readonly kind: 'missing' }
  /** `git`: the folder of git for this tree. */
  | { readonly kind: 'made'; readonly git: string; readonly isLocked: boolean }
  /** Git was killed while it made the tree, so no agent has worked in it. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'strange'; readonly why: string };

export async function treeOnDisk(path: string): Promise<TreeOnDisk> {
  const there = await lstat(path).catch(() => undefined);
  if (!there) return { kind: 'missing' };
  if (!there.isDirectory()) return { kind: 'strange', why: 'it is not a folder' };
  // The tree and the repository name each other, or the tree is not believed.
  const git = await linkedFolder(join(path, '.git'));
  if (git === undefined) {
    const isEmpty = (await readdir(path)).length === 0;
    return isEmpty ? { kind: 'missing' } : { kind: 'strange', why: 'it is not a worktree' };
  }
  const lock = await firstLine(join(git, 'locked')).catch(() => undefined);
  if (lock === INITIALIZING) return { kind: 'partial' };
  return { kind: 'made', git, isLocked: lock !== undefined };
}

/** The folder that the worktrees of a repository share. It outlives each of them. */
export async function sharedFolder(repository: string): Promise<string> {
  const named = await firstLine(join(repository, 'commondir')).catch(() => undefined);
  if (named !== undefined) return resolve(repository, named);
  const isGone = !(await lstat(repository).catch(() => undefined));
  const worktrees = dirname(repository);
  return isGone && basename(worktrees) === 'worktrees' ? dirname(worktrees) : repository;
}

/** The reason that git writes while it makes a tree. */
export const INITIALIZING = 'initializing';
