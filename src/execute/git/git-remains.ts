/** Removes the remains of a killed git. Another git would wait for them, or avoid their names. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Removes the lock of a ref of the run, and says whether there was one. No git works on the ref now. */
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
 * Removes git's entry for a tree that no longer exists, also a part of one: git creates the file `gitdir`
 * of an entry first, and writes the path of the tree into it afterwards.
 */
export async function removeEntry(shared: string, path: string): Promise<void> {
  const entries = join(shared, 'worktrees');
  for (const name of await readdir(entries).catch(() => [])) {
    const gitdir = await readFile(join(entries, name, 'gitdir'), 'utf8').catch(() => '');
    const isPart = gitdir === '' && name === basename(path);
    if (isPart || gitdir.trimEnd() === join(path, '.git'))
      await rm(join(entries, name), { recursive: true, force: true });
  }
}
