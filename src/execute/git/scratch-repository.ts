/**
 * Looks at a repository that an agent may have changed, or that a stranger has made. Its configuration can
 * name programs (filters, monitors, hooks), and git would run them. So git works with an empty repository,
 * which takes only the objects, the index and the ignore rules from the other one.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GitFolders, runGit } from './run-git.ts';
import { copyWithTimes } from './working-index.ts';

/** `use` gets the folder of the empty repository, and names the objects itself. */
export async function inScratch<T>(
  { own, shared, format }: GitFolders,
  use: (scratch: string) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'raymond-git-'));
  try {
    const env = { ...NO_CONFIG, GIT_DEFAULT_HASH: format };
    await runGit({ args: ['init', '-q', '--bare', '--template=', scratch], env });
    await mkdir(join(scratch, 'info'), { recursive: true });
    await copyWithTimes(join(own, 'index'), join(scratch, 'index'));
    await copyWithTimes(join(shared, 'shallow'), join(scratch, 'shallow'));
    await copyWithTimes(join(shared, 'info/exclude'), join(scratch, 'info/exclude'));
    return await use(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The configuration of the user can name programs as well. */
export const NO_CONFIG = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
