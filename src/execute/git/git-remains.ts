/** Removes the remains of a killed git. Another git would wait for them, or avoid their names. */
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Removes the lock of a branch of the run, and says whether there was one. The caller makes sure that
 * no git works on the branch.
 */
export function removeBranchLock(shared: string, branch: string): Promise<boolean> {
  return removeRefLock(shared, `refs/heads/${branch}`);
}

/** The same for any ref of the run. */
export function removeRefLock(shared: string, ref: string): Promise<boolean> {
  return rm(join(shared, `${ref}.lock`)).then(
    () => true,
    () => false,
  );
}

/** Removes all locks of a repository. The caller makes sure that no git works in it. */
export async function removeLocks(repository: string): Promise<void> {
  const refs = await readdir(join(repository, 'refs'), { recursive: true }).catch(() => []);
  const own = await readdir(repository).catch(() => []);
  const names = [...own, ...refs.map((name) => join('refs', name))];
  for (const name of names.filter((each) => each.endsWith('.lock')))
    await rm(join(repository, name), { force: true });
}

/**
 * Removes a part of git's entry for a tree. An entry whose file `gitdir` is missing or empty belongs to
 * no tree: git creates the file first, and writes the path of the tree into it afterwards.
 */
export async function removePartOfEntry(shared: string, path: string): Promise<void> {
  const entry = join(shared, 'worktrees', basename(path));
  const gitdir = await stat(join(entry, 'gitdir')).catch(() => undefined);
  if (gitdir && gitdir.size > 0) return;
  await rm(entry, { recursive: true, force: true });
}
