/**
 * Removes a worktree with its branch. A kill at any moment leaves a state from which a second call
 * continues. First the tree gets another name, under which Raymond no longer looks at it.
 */
import { existsSync } from 'node:fs';
import { rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { removeEntry, removeRefLock } from './git-remains.ts';
import { inertConfig } from './inert-config.ts';
import { branchOf, runGit } from './run-git.ts';
import { INITIALIZING, sharedFolder } from './tree-on-disk.ts';

/** Removes the tree and git's entry for it. The caller has made sure that no work is lost. */
export async function removeTree(path: string, repository: string): Promise<void> {
  const aside = asideOf(path);
  if (existsSync(path) && !existsSync(aside)) await rename(path, aside);
  await rm(aside, { recursive: true, force: true });
  const shared = await sharedFolder(repository);
  const env = await inertConfig(shared);
  const remove = (...force: string[]) => {
    const args = ['--git-dir', shared, 'worktree', 'remove', ...force, '--', path];
    return runGit({ args, env });
  };
  await remove('--force').catch(async (error) => {
    const entry = await entryOf(shared, path);
    if (!entry) return;
    if (entry.lock !== INITIALIZING) throw error;
    // Git was killed while it made the tree.
    await remove('--force', '--force');
  });
  await removeEntry(shared, path);
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
  const env = await inertConfig(shared);
  const remove = () => runGit({ args, env });
  // No tree uses the branch, so no other process changes it.
  await remove().catch(async (error) => {
    if (!(await removeRefLock(shared, `refs/heads/${branch}`))) throw error;
    await remove();
  });
}

/** Git's entry for a worktree, if it has one. */
async function entryOf(shared: string, path: string): Promise<{ lock?: string } | undefined> {
  const args = ['--git-dir', shared, 'worktree', 'list', '--porcelain'];
  const entries = (await runGit({ args })).split('\n\n').map((text) => text.split('\n'));
  const lines = entries.find(([first]) => first === `worktree ${path}`);
  const lock = lines?.find((line) => line.startsWith('locked '))?.slice('locked '.length);
  return lines && (lock === undefined ? {} : { lock });
}

/** Whether a name is that of a tree that is being removed. */
export function isAside(name: string): boolean {
  return name.startsWith(ASIDE);
}

const ASIDE = '.removing-';
const asideOf = (path: string) => join(dirname(path), `${ASIDE}${basename(path)}`);
