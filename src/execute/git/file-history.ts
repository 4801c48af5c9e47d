/**
 * INV-30: Raymond records files beside the user's index, HEAD, stash and branches, and changes none of
 * them. It restores only files that it has recorded for the run.
 *
 * Each working tree has a private index that is kept between records, so that git reads only the files
 * that have changed. A record is a tree object. A ref under `refs/raymond/<run>/` protects it from
 * `git gc`, and `prune` removes the ref.
 */
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withParents } from '../../files/walk.ts';
import { oneAtATime } from '../../model/one-at-a-time.ts';
import type { FileHistory } from '../../ports.ts';
import { removeRefLock } from './git-remains.ts';
import { inertConfig } from './inert-config.ts';
import { type GitRequest, gitFolders, isObjectId, runGit } from './run-git.ts';
import {
  ADD,
  addChanges,
  copyWithTimes,
  nulled,
  REMOVE,
  statusOf,
  type TreeGit,
  updateIndex,
  writeTree,
} from './working-index.ts';

export function gitFileHistory(ofRun: {
  readonly run: string;
  /** For the private indexes. */
  readonly folder: string;
}): FileHistory {
  const trees = new Map<string, WorkingTree>();
  const treeAt = (root: string) => {
    const known = trees.get(root) ?? new WorkingTree(ofRun.run, root, placeOf(ofRun.folder, root));
    trees.set(root, known);
    return known;
  };
  return {
    rootOf,
    record: (root, goal) => treeAt(root).record(goal),
    restore: (root, id) => treeAt(root).restore(id),
  };
}

/** Looks for a `.git`, as git does. To ask git itself would take more time than a short script. */
function rootOf(directory: string): string | undefined {
  return existsSync(directory) ? withParents(directory).find(isRoot) : undefined;
}

function isRoot(folder: string): boolean {
  const git = join(folder, '.git');
  const kind = statSync(git, { throwIfNoEntry: false });
  if (!kind?.isDirectory()) return kind?.isFile() ?? false;
  // Without these parts, git does not accept a folder as a repository.
  return ['HEAD', 'objects', 'refs'].every((part) => existsSync(join(git, part)));
}

export const placeOf = (folder: string, root: string) =>
  join(folder, createHash('sha256').update(root).digest('hex').slice(0, 16));

/** The names of the files in the folder of a working tree. */
export const REPOSITORY_FILE = 'repository';
const INDEX_FILE = 'index';

export const refsOf = (run: string) => `refs/raymond/${run}/`;

class WorkingTree {
  readonly #run: string;
  readonly #root: string;
  readonly #folder: string;
  #repository: { readonly own: string; readonly shared: string } | undefined;
  #newest: string | undefined;
  readonly #anchored = new Set<string>();
  readonly #inTurn = oneAtATime();

  constructor(run: string, root: string, folder: string) {
    this.#run = run;
    this.#root = root;
    this.#folder = folder;
  }

  record(goal: string | undefined): Promise<string> {
    return this.#inTurn(() => this.#record(goal));
  }

  restore(goal: string): Promise<void> {
    return this.#inTurn(() => this.#restore(goal));
  }

  async #record(goal: string | undefined): Promise<string> {
    const { own } = await this.#open();
    const env = await this.#environment(own);
    const tree = await this.#recordWith(env);
    const hidden = goal === undefined ? [] : await this.#hiddenBy(tree, goal, env);
    if (hidden.length === 0) return tree;
    await updateIndex(this.#withIndex(env), ADD, hidden);
    return this.#write(env);
  }

  async #restore(goal: string): Promise<void> {
    const { own, shared } = await this.#open();
    if (!isObjectId(goal)) throw new Error(`${goal} is not the id of files`);
    const ref = `${refsOf(this.#run)}${goal}`;
    const known = await runGit({ args: ['--git-dir', shared, 'rev-parse', '--verify', ref] });
    if (known.trim() !== goal) throw new Error(`${goal} was not recorded for ${this.#run}`);
    for (let tries = 1; ; tries++) {
      const env = await this.#environment(own);
      const recorded = await this.#record(goal);
      if (recorded === goal) return;
      const tree = await this.#withoutIgnored(recorded, goal, env);
      // Refuses to overwrite a file that has changed since the record.
      const args = ['read-tree', '--no-sparse-checkout', '-m', '-u', tree, goal];
      try {
        await this.#git({ args, env });
        this.#newest = goal;
        return;
      } catch (error) {
        // Another process changed a file meanwhile, or killed git in the middle of its work.
        if (tries === MOST_TRIES) throw error;
      }
    }
  }

  async #open() {
    if (this.#repository) return this.#repository;
    const { own, shared } = await gitFolders('-C', this.#root);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#folder, REPOSITORY_FILE), shared, { mode: 0o600 });
    if (!existsSync(this.#index)) await copyWithTimes(join(own, 'index'), this.#index);
    this.#repository = { own, shared };
    return this.#repository;
  }

  get #index(): string {
    return join(this.#folder, INDEX_FILE);
  }

  /** An agent may have changed the configuration of the repository, so it is read each time. */
  async #environment(own: string): Promise<Environment> {
    return {
      ...(await inertConfig(own)),
      GIT_INDEX_FILE: this.#index,
      // The lock is for the private index only.
      GIT_OPTIONAL_LOCKS: '1',
    };
  }

  async #recordWith(env: Environment): Promise<string> {
    const git = this.#withIndex(env);
    const hasChanged = await addChanges(git, await statusOf(git), this.#root);
    return hasChanged || this.#newest === undefined ? this.#write(env) : this.#newest;
  }

  #withIndex(env: Environment): TreeGit {
    return (args, input) =>
      this.#git({ args, env, isBinary: true, ...(input !== undefined && { input }) });
  }

  async #write(env: Environment): Promise<string> {
    const tree = await writeTree(this.#withIndex(env));
    await this.#anchor(tree, env);
    this.#newest = tree;
    return tree;
  }

  async #anchor(tree: string, env: Environment): Promise<void> {
    if (this.#anchored.has(tree)) return;
    const { shared } = await this.#open();
    const ref = `${refsOf(this.#run)}${tree}`;
    const args = ['--git-dir', shared, 'update-ref', ref, tree];
    const anchor = () => runGit({ args, env });
    await anchor().catch(async (error) => {
      if (!(await removeRefLock(shared, ref))) throw error;
      await anchor();
    });
    this.#anchored.add(tree);
  }

  /**
   * The files that exist and would be overwritten, although they are not in the record. Also a link or a
   * file in the place of a folder. Nothing beyond a link is looked at.
   */
  async #hiddenBy(tree: string, goal: string, env: Environment): Promise<readonly string[]> {
    const hidden = new Set<string>();
    const folders = new Set<string>();
    for (const path of await this.#paths('A', tree, goal, env)) {
      const parts = path.split('/');
      for (const length of parts.keys()) {
        const part = parts.slice(0, length + 1).join('/');
        if (folders.has(part)) continue;
        const here = Buffer.concat([Buffer.from(`${this.#root}/`), Buffer.from(part, 'latin1')]);
        const kind = await lstat(here).catch(() => undefined);
        if (kind?.isFile() || kind?.isSymbolicLink()) hidden.add(part);
        if (!kind?.isDirectory()) break;
        folders.add(part);
      }
    }
    return [...hidden];
  }

  /**
   * The record without new files that the rules of the goal ignore, and with an index that equals it. Such
   * files are left alone, although the rules of now do not ignore them.
   */
  async #withoutIgnored(tree: string, goal: string, env: Environment): Promise<string> {
    const rules = await this.#paths('AMD', tree, goal, env);
    if (!rules.some(isIgnoreFile)) return tree;
    const found = await this.#ignoredAt(goal, await this.#paths('D', tree, goal, env), env);
    // In the place of their folder, the goal may have a file. The record has them.
    const files = new Set(await this.#paths('A', tree, goal, env));
    const ignored = found.filter((path) => !foldersOf(path).some((folder) => files.has(folder)));
    if (ignored.length === 0) return tree;
    await updateIndex(this.#withIndex(env), REMOVE, ignored);
    return writeTree(this.#withIndex(env));
  }

  async #ignoredAt(
    goal: string,
    paths: readonly string[],
    env: Environment,
  ): Promise<readonly string[]> {
    const folder = await mkdtemp(join(this.#folder, 'rules-'));
    try {
      const asked = {
        isBinary: true,
        env: { ...env, GIT_INDEX_FILE: join(folder, '.index') },
      } as const;
      const listing = ['ls-tree', '-r', '-z', '--name-only', goal];
      const files = lines(await this.#git({ ...asked, args: listing })).filter(isIgnoreFile);
      await this.#git({ ...asked, args: ['read-tree', goal] });
      const writing = ['checkout-index', `--prefix=${folder}/`, '-z', '--stdin'];
      await this.#git({ ...asked, args: writing, input: nulled(files) });
      const where = ['-C', folder, '--git-dir', this.#repository?.own ?? '', '--work-tree', folder];
      const args = [...where, 'check-ignore', '--no-index', '-z', '--stdin'];
      // It fails if none is ignored.
      return lines(await runGit({ ...asked, args, input: nulled(paths) }).catch(() => ''));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** The paths that the goal has in addition (`A`), does not have (`D`), or that differ at all. */
  async #paths(
    filter: 'A' | 'D' | 'AMD',
    tree: string,
    goal: string,
    env: Environment,
  ): Promise<readonly string[]> {
    const args = [
      'diff-tree',
      '-r',
      '-z',
      '--no-renames',
      '--name-only',
      `--diff-filter=${filter}`,
    ];
    const told = await this.#git({ args: [...args, tree, goal], env, isBinary: true });
    return lines(told);
  }

  async #git({ args, ...request }: GitRequest): Promise<string> {
    const own = this.#repository?.own ?? '';
    const where = ['-C', this.#root, '--git-dir', own, '--work-tree', this.#root];
    // A split index would leave files in the repository.
    const settings = ['-c', 'core.splitIndex=false', '-c', 'core.bare=false'];
    const told = await runGit({
      ...request,
      args: [...where, ...settings, ...args],
      lock: `${this.#index}.lock`,
    });
    // Git leaves the mode to the umask, and a new repository has no index yet.
    await chmod(this.#index, 0o600).catch(() => {});
    return told;
  }
}

const lines = (told: string) => told.split('\0').filter((name) => name !== '');
const foldersOf = (path: string) =>
  path
    .split('/')
    .flatMap((_, index, parts) => (index > 0 ? [parts.slice(0, index).join('/')] : []));
const isIgnoreFile = (path: string) => /(^|\/)\.gitignore$/.test(path);

type Environment = Readonly<Record<string, string>>;

const MOST_TRIES = 3;

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
