/**
 * Inspects an untrusted repository with git. Its configuration can name programs (filters, monitors,
 * hooks), and git would run them. So git works in a scratch folder, which takes only the objects, the
 * index and the refs from the repository.
 */
import { mkdir, mkdtemp, readdir, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isWithin, readRegularFile } from '../../files/regular-file.ts';
import { runGit } from './run-git.ts';

export interface Repository {
  /** The `.git` folder or file of a working tree, or the folder of a bare repository. */
  readonly git: string;
  readonly tree: string | undefined;
}

/** Why removing the folders `doomed` would lose work of this repository; undefined if it would not. */
export async function lookThroughGit(
  repository: Repository,
  doomed: readonly string[],
): Promise<string | undefined> {
  const scratch = await mkdtemp(join(tmpdir(), 'raymond-git-'));
  try {
    const inspection = await prepare(repository, scratch, doomed);
    if (inspection.tree !== undefined && (await isChanged(inspection)))
      return 'has uncommitted changes';
    return (await hasOwnCommits(inspection)) ? 'has commits that exist nowhere else' : undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n').find(Boolean) : String(error);
    return `cannot be checked (${why})`;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Inspection {
  readonly scratch: string;
  readonly tree: string | undefined;
  readonly objects: string;
  /** Commits whose refs would be removed with the folder. */
  readonly tips: readonly string[];
  /** Commits whose refs would remain. */
  readonly kept: readonly string[];
}

async function prepare(
  { git, tree }: Repository,
  scratch: string,
  doomed: readonly string[],
): Promise<Inspection> {
  const own = await gitFolder(git);
  const shared = await sharedFolder(own);
  if (await exists(join(shared, 'reftable')))
    throw new Error('it keeps its branches in a reftable');
  const refs = await readRefs(shared);
  const head = headOf(await text(join(own, 'HEAD')), refs);
  await runGit({ args: ['init', '-q', '--bare', scratch], env: INIT });
  await mkdir(join(scratch, 'info'), { recursive: true });
  await writeFile(join(scratch, 'HEAD'), `${head ?? 'ref: refs/heads/nothing-yet'}\n`);
  for (const [from, to] of [
    [join(own, 'index'), 'index'],
    [join(shared, 'shallow'), 'shallow'],
    [join(shared, 'info', 'exclude'), join('info', 'exclude')],
  ] as const) {
    const bytes = await readRegularFile(from, MAX_BYTES).catch(ifMissing);
    if (!bytes) continue;
    await writeFile(join(scratch, to), bytes);
    // git compares the times: it reads a file again if it may have changed after the index.
    const { atime, mtime } = await stat(from);
    await utimes(join(scratch, to), atime, mtime);
  }
  const real = await realpath(shared);
  const folders = await Promise.all(doomed.map((folder) => realpath(folder)));
  const isRemoved = folders.some((folder) => isWithin(folder, real));
  const isElsewhere = ([name]: readonly [string, string]) => name.startsWith('refs/remotes/');
  const entries = [...refs];
  const values = (list: typeof entries) => list.map(([, commit]) => commit);
  return {
    scratch,
    tree,
    objects: join(shared, 'objects'),
    tips: [
      ...(head ? [head] : []),
      ...(isRemoved ? values(entries.filter((entry) => !isElsewhere(entry))) : []),
    ],
    kept: values(isRemoved ? entries.filter(isElsewhere) : entries),
  };
}

async function isChanged({ scratch, tree = '', objects }: Inspection): Promise<boolean> {
  const env = { GIT_DIR: scratch, GIT_WORK_TREE: tree, GIT_OBJECT_DIRECTORY: objects };
  // Each submodule is a separate repository and is checked separately.
  const args = ['status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=all'];
  const own = ['-c', 'core.bare=false', '-c', 'core.fsmonitor=false', '-C', tree, ...args];
  return (await runGit({ args: own, env })) !== '';
}

async function hasOwnCommits({ scratch, objects, tips, kept }: Inspection): Promise<boolean> {
  if (tips.length === 0) return false;
  const env = { GIT_DIR: scratch, GIT_OBJECT_DIRECTORY: objects };
  const names = [...tips, ...kept.map((commit) => `^${commit}`)];
  const args = ['rev-list', '--max-count=1', '--stdin'];
  return (await runGit({ args, env, input: names.join('\n') })) !== '';
}

/** `.git` is a folder, or a file that names one. */
async function gitFolder(git: string): Promise<string> {
  if ((await stat(git)).isDirectory()) return git;
  const [, path] = /^gitdir: (.+)\n*$/.exec(await text(git)) ?? [];
  if (path === undefined) throw new Error(`${git} names no repository`);
  const folder = resolve(git, '..', path);
  if (!(await exists(folder))) throw new Error('its repository no longer exists');
  return folder;
}

/** The folder that all working trees of a repository share. */
async function sharedFolder(own: string): Promise<string> {
  const path = (await readRegularFile(join(own, 'commondir'), MAX_BYTES).catch(ifMissing))
    ?.toString()
    .trim();
  return path === undefined ? own : resolve(own, path);
}

/** The commit of each ref; a ref in its own file overrides a packed ref. */
async function readRefs(shared: string): Promise<ReadonlyMap<string, string>> {
  const packed = (await readRegularFile(join(shared, 'packed-refs'), MAX_BYTES).catch(ifMissing))
    ?.toString()
    .matchAll(/^([0-9a-f]{40}) (refs\/\S+)$/gm);
  const refs = new Map([...(packed ?? [])].map(([, commit = '', name = '']) => [name, commit]));
  const files = await readdir(join(shared, 'refs'), { recursive: true, withFileTypes: true });
  if (files.length > MAX_REFS) throw new Error('it has too many branches');
  for (const file of files.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    const [commit] = /^[0-9a-f]{40}$/m.exec(await text(path)) ?? [];
    if (commit !== undefined) refs.set(path.slice(shared.length + 1), commit);
  }
  return refs;
}

function headOf(head: string, refs: ReadonlyMap<string, string>): string | undefined {
  const [, name] = /^ref: (\S+)\n*$/.exec(head) ?? [];
  if (name !== undefined) return refs.get(name);
  if (/^[0-9a-f]{40}\n*$/.test(head)) return head.trim();
  throw new Error('its HEAD cannot be read');
}

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_REFS = 50_000;

const text = async (path: string) => (await readRegularFile(path, MAX_BYTES)).toString();

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

function ifMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

/** Without templates of the user, which could contain hooks. */
const INIT = { GIT_TEMPLATE_DIR: '', GIT_DEFAULT_HASH: 'sha1' };
