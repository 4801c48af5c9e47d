/** A worktree as git keeps it on disk, read without git: an agent may have changed the files. */
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';

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
  const git = await folderOfGit(path);
  if (git === undefined) {
    const isEmpty = (await readdir(path)).length === 0;
    return isEmpty ? { kind: 'missing' } : { kind: 'strange', why: 'it is not a worktree' };
  }
  const lock = await line(join(git, 'locked')).catch(() => undefined);
  if (lock === INITIALIZING) return { kind: 'partial' };
  return { kind: 'made', git, isLocked: lock !== undefined };
}

/** The folder that the worktrees of a repository share. It outlives each of them. */
export async function sharedFolder(repository: string): Promise<string> {
  const named = await line(join(repository, 'commondir')).catch(() => undefined);
  if (named !== undefined) return resolve(repository, named);
  const isGone = !(await lstat(repository).catch(() => undefined));
  const worktrees = dirname(repository);
  return isGone && basename(worktrees) === 'worktrees' ? dirname(worktrees) : repository;
}

/** The tree and the repository name each other, or the tree is not believed. */
async function folderOfGit(path: string): Promise<string | undefined> {
  try {
    const [, named = ''] = /^gitdir: (.+)$/.exec(await line(join(path, '.git'))) ?? [];
    const git = await realpath(resolve(path, named));
    const back = await realpath(resolve(git, await line(join(git, 'gitdir'))));
    return back === (await realpath(join(path, '.git'))) ? git : undefined;
  } catch {
    return undefined;
  }
}

/** The reason that git writes while it makes a tree. */
export const INITIALIZING = 'initializing';
const LONGEST_LINE = 64 * 1024;

async function line(file: string): Promise<string> {
  const text = (await readRegularFile(file, LONGEST_LINE)).toString();
  return text.split(/\r?\n/, 1)[0] ?? '';
}
