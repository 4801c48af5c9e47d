import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY_FILE, refsOf } from './file-history.ts';
import { inertConfig } from './inert-config.ts';
import { runGit } from './run-git.ts';

/**
 * Removes the refs of a run from all repositories whose files it has recorded. `folder` has the
 * private indexes. A repository that no longer exists has nothing to remove.
 */
export async function forgetFiles(run: string, folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const repositories = new Set<string>();
  for (const name of names) {
    const text = await readFile(join(folder, name, REPOSITORY_FILE), 'utf8').catch(() => '');
    if (text !== '') repositories.add(text);
  }
  for (const repository of repositories) {
    const env = await inertConfig(repository).catch(() => undefined);
    if (!env) continue;
    const git = (args: readonly string[], input = '') =>
      runGit({ args: ['--git-dir', repository, ...args], input, env });
    const refs = await git(['for-each-ref', '--format=delete %(refname)', refsOf(run)]).catch(
      () => '',
    );
    if (refs !== '') await git(['update-ref', '--stdin'], refs);
  }
}
