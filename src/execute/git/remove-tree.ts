/**
 * Removes a worktree with its branch. A kill at any moment leaves a state from which a second call
 * continues. First the tree gets another name, under which Raymond no longer looks at it.
 */
import { existsSync } from 'node:fs';
import { rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withoutHooks } from './inert-config.ts';
import { branchOf, runGit } from './run-git.ts';
import { sharedFolder } from './tree-on-disk.ts';

/** Removes the tree and git's entry for it. The caller has made sure that no work is lost. */
export async function removeTree(path: string, repository: string): Promise<void> {
  const aside = asideOf(path);
  if (existsSync(path) && !existsSync(aside)) await rename(path, aside);
  await rm(aside, { recursive: true, force: true });
  const shared = await sharedFolder(repository);
  const args = ['--git-dir', shared, 'worktree', 'remove', '--force', '--', path];
  await runGit({ args, env: withoutHooks() }).catch(async (error) => {
    if (await isRegistered(shared, path)) throw error;
  });
  // The folder of the run, if this was its last worktree.
  await rmdir(dirname(path)).catch(() => {});
}

/** Removes a branch, unless a tree uses it or `mayLose` says no to its newest commit. */
export async function removeBranch(
  repository: string,
  branch: string,
  mayLose: (tip: string) => Promise<boolean>,
): Promise<void> {
  const shared = await sharedFolder(repository);
  const found = await branchOf(shared, branch);
  if (found?.usedAt !== '' || !(await mayLose(found.tip))) return;
  // Git removes it only if it is still at this commit.
  const args = ['--git-dir', shared, 'update-ref', '-d', `refs/heads/${branch}`, found.tip];
  await runGit({ args, env: withoutHooks() });
}

async function isRegistered(shared: string, path: string): Promise<boolean> {
  const args = ['--git-dir', shared, 'worktree', 'list', '--porcelain'];
  return (await runGit({ args })).split('\n').includes(`worktree ${path}`);
}

/** Whether a name is that of a tree that is being removed. */
export function isAside(name: string): boolean {
  return name.startsWith(ASIDE);
}

const ASIDE = '.removing-';
const asideOf = (path: string) => join(dirname(path), `${ASIDE}${basename(path)}`);
