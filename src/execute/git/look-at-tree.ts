/** Looks at the work in a worktree, without changing anything. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isPlaceholder } from '../../files/command-files.ts';
import type { Tree, WorktreeLook } from '../../model/worktree.ts';
import { inertConfig } from './inert-config.ts';
import { isObjectId, runGit, tipOf } from './run-git.ts';
import { sharedFolder, treeOnDisk } from './tree-on-disk.ts';
import { unsavedWork } from './unsaved-work.ts';

/** Throws if it cannot be judged. */
export async function lookAtTree(tree: Tree, branch: string): Promise<WorktreeLook> {
  const found = await treeOnDisk(tree.path);
  const shared = await sharedFolder(tree.repository);
  if (found.kind === 'missing' || found.kind === 'partial') {
    const commits = await commitsAhead(shared, await tipsOf(shared, branch), tree.base);
    return { branch, commits, dirty: false, missing: true };
  }
  if (found.kind === 'strange') throw new Error(`${tree.path}: ${found.why}`);
  const { head, current, isChanged } = await treeStatus(found.git, tree.path);
  const tip = current === branch ? [] : await tipsOf(shared, branch);
  const commits = await commitsAhead(shared, [...head, ...tip], tree.base);
  const dirty = isChanged || (await hasChangedSubmodules(found.git, tree.path));
  return { branch: current ?? head[0] ?? branch, commits, dirty };
}

interface Status {
  /** The current commit, if there is one. */
  readonly head: readonly string[];
  /** The current branch, if its name is safe to use. */
  readonly current: string | undefined;
  readonly isChanged: boolean;
}

export async function treeStatus(git: string, path: string): Promise<Status> {
  const where = ['--git-dir', git, '--work-tree', path];
  const what = ['--porcelain=v2', '--branch', '-z', '--untracked-files=normal'];
  const told = await runGit({
    // Git would look into submodules with their own configuration.
    args: [...where, 'status', ...what, '--ignore-submodules=dirty'],
    env: await inertConfig(git),
  });
  const lines = told.split('\0').filter((line) => line !== '');
  const header = (name: string) =>
    lines.find((line) => line.startsWith(`# ${name} `))?.slice(name.length + 3) ?? '';
  const [oid, branch] = [header('branch.oid'), header('branch.head')];
  return {
    head: isObjectId(oid) ? [oid] : [],
    current: isSafeName(branch) ? branch : undefined,
    isChanged: lines.some((line) => !line.startsWith('#') && !isHeld(path, line)),
  };
}

/** The process of an agent in a sandbox may still be there. */
function isHeld(tree: string, line: string): boolean {
  const path = line.startsWith('? ') ? line.slice(2) : undefined;
  const found = path !== undefined && lstatSync(join(tree, path), { throwIfNoEntry: false });
  return found ? isPlaceholder(path, found) : false;
}

/** An agent may have chosen it, and a script may merge it. */
function isSafeName(branch: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._/+-]*$/u.test(branch);
}

async function tipsOf(repository: string, branch: string): Promise<readonly string[]> {
  const tip = await tipOf(repository, branch);
  return tip === undefined ? [] : [tip];
}

/** The number of commits that can be reached from these, but not from the base. */
export async function commitsAhead(
  repository: string,
  commits: readonly string[],
  base: string,
): Promise<number> {
  const others = [...new Set(commits)].filter((commit) => commit !== base);
  if (others.length === 0) return 0;
  const args = ['--git-dir', repository, 'rev-list', '--count', ...others, `^${base}`];
  return Number(await runGit({ args }));
}

/** Git keeps the repositories of a worktree's submodules in its folder of the worktree. */
async function hasChangedSubmodules(git: string, path: string): Promise<boolean> {
  return existsSync(join(git, 'modules')) && (await unsavedWork(path)).length > 0;
}
