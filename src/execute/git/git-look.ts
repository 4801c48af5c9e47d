/** Looks for unsaved work in a repository that may be of a stranger: see `inScratch`. */
import { realpath, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isWithin, readRegularFile } from '../../files/regular-file.ts';
import { messageOf } from '../../model/message-of.ts';
import { type GitFolders, gitFolders, runGit } from './run-git.ts';
import { inScratch } from './scratch-repository.ts';

export interface Repository {
  /** The `.git` folder or file of a working tree, or the folder of a bare repository. */
  readonly git: string;
  readonly tree: string | undefined;
}

/** Why removing the folders `doomed` would lose work of this repository; undefined if it would not. */
export async function lookThroughGit(
  { git, tree }: Repository,
  doomed: readonly string[],
): Promise<string | undefined> {
  try {
    await checkExists(git);
    const folders = await gitFolders('--git-dir', git);
    const { head, tips, kept } = await commitsOf(folders, git, doomed);
    return await inScratch(folders, async (scratch) => {
      await writeFile(join(scratch, 'HEAD'), `${head ?? 'ref: refs/heads/nothing-yet'}\n`);
      const env = { GIT_DIR: scratch, GIT_OBJECT_DIRECTORY: join(folders.shared, 'objects') };
      if (tree !== undefined && (await isChanged(tree, env))) return 'has uncommitted changes';
      const isLost = await hasOwnCommits(tips, kept, env);
      return isLost ? 'has commits that exist nowhere else' : undefined;
    });
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n').find(Boolean) : String(error);
    return `cannot be checked (${why})`;
  }
}

/** `.git` is a folder, or a file that names one. */
async function checkExists(git: string): Promise<void> {
  if ((await stat(git)).isDirectory()) return;
  const text = (await readRegularFile(git, MAX_BYTES)).toString();
  const [, path] = /^gitdir: (.+)\n*$/.exec(text) ?? [];
  if (path === undefined) throw new Error(`${git} names no repository`);
  const isThere = await stat(resolve(git, '..', path)).catch(() => undefined);
  if (!isThere) throw new Error('its repository no longer exists');
}

const MAX_BYTES = 64 * 1024;

interface Commits {
  readonly head: string | undefined;
  /** Commits whose refs would be removed with the folders. */
  readonly tips: readonly string[];
  /** Commits whose refs would remain. */
  readonly kept: readonly string[];
}

/** These calls of git run no other program. */
async function commitsOf(
  { own, shared }: GitFolders,
  git: string,
  doomed: readonly string[],
): Promise<Commits> {
  const ask = (...args: string[]) => runGit({ args: ['--git-dir', git, ...args] });
  const listed = await ask('for-each-ref', '--format=%(refname) %(objectname)');
  const refs = listed.split('\n').flatMap((line) => {
    const [name = '', commit] = line.split(' ');
    return commit === undefined ? [] : [{ name, commit }];
  });
  // A new repository has no commit.
  const found = await ask('rev-parse', '--verify', '--quiet', 'HEAD').catch((error) => {
    // Without a word, git says only that there is none. Any other trouble must not look like that.
    if (messageOf(error) === 'git ended with 1') return '';
    throw error;
  });
  const head = found.trim() || undefined;
  const real = await realpath(shared);
  const folders = await Promise.all(doomed.map((folder) => realpath(folder)));
  const isOfTree = (name: string) => own !== shared && REFS_OF_TREE.test(name);
  const isRemoved = ({ name }: { readonly name: string }) =>
    isOfTree(name) ||
    (!name.startsWith('refs/remotes/') && folders.some((folder) => isWithin(folder, real)));
  const commits = (some: typeof refs) => some.map(({ commit }) => commit);
  return {
    head,
    tips: [...(head ? [head] : []), ...commits(refs.filter(isRemoved))],
    kept: commits(refs.filter((ref) => !isRemoved(ref))),
  };
}

/** A worktree has these for itself, and they end with it. */
const REFS_OF_TREE = /^refs\/(bisect|worktree|rewritten)\//;

type Environment = Readonly<Record<string, string>>;

async function isChanged(tree: string, env: Environment): Promise<boolean> {
  // Each submodule is a separate repository and is checked separately.
  const what = ['--porcelain', '--untracked-files=normal', '--ignore-submodules=all'];
  const settings = ['-c', 'core.bare=false', '-c', 'core.fsmonitor=false'];
  const args = [...settings, '-C', tree, 'status', ...what];
  return (await runGit({ args, env: { ...env, GIT_WORK_TREE: tree } })) !== '';
}

async function hasOwnCommits(
  tips: readonly string[],
  kept: readonly string[],
  env: Environment,
): Promise<boolean> {
  if (tips.length === 0) return false;
  const input = [...tips, ...kept.map((commit) => `^${commit}`)].join('\n');
  return (await runGit({ args: ['rev-list', '--max-count=1', '--stdin'], env, input })) !== '';
}
