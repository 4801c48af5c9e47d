/**
 * Asks git about a repository that anybody may have made. Its configuration can name programs
 * (filters, monitors, hooks), and git would run them. So git works in a folder of ours, which has
 * nothing of the repository but its objects, its index and the names of its commits.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isWithin, readRegularFile } from '../files/regular-file.ts';

export interface Repository {
  /** The `.git` of a working tree, a folder or a file, or the folder of a repository without one. */
  readonly git: string;
  readonly tree: string | undefined;
}

/** Why work would be lost if a folder were removed with the repository in it; undefined if none would. */
export async function lookThroughGit(
  repository: Repository,
  doomed: string,
): Promise<string | undefined> {
  const ours = await mkdtemp(join(tmpdir(), 'raymond-git-'));
  try {
    const look = await prepare(repository, ours, doomed);
    if (look.tree !== undefined && (await isChanged(look))) return 'has changes without a commit';
    return (await hasOwnCommits(look)) ? 'has commits that exist nowhere else' : undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n').find(Boolean) : String(error);
    return `cannot be looked at (${why})`;
  } finally {
    await rm(ours, { recursive: true, force: true });
  }
}

interface Look {
  readonly ours: string;
  readonly tree: string | undefined;
  readonly objects: string;
  /** Commits that the repository names, and whose names go with the folder. */
  readonly tips: readonly string[];
  /** Commits whose names stay. */
  readonly kept: readonly string[];
}

async function prepare({ git, tree }: Repository, ours: string, doomed: string): Promise<Look> {
  const own = await gitFolder(git);
  const shared = await sharedFolder(own);
  if (await exists(join(shared, 'reftable')))
    throw new Error('it keeps its branches in a reftable');
  const refs = await readRefs(shared);
  const head = headOf(await text(join(own, 'HEAD')), refs);
  await run(ours, {}, ['init', '-q', '--bare', ours]);
  await mkdir(join(ours, 'info'), { recursive: true });
  await writeFile(join(ours, 'HEAD'), `${head ?? 'ref: refs/heads/nothing-yet'}\n`);
  for (const [from, to] of [
    [join(own, 'index'), 'index'],
    [join(shared, 'shallow'), 'shallow'],
    [join(shared, 'info', 'exclude'), join('info', 'exclude')],
  ] as const) {
    const bytes = await readRegularFile(from, MAX_BYTES).catch(ifMissing);
    if (bytes) await writeFile(join(ours, to), bytes);
  }
  const goes = isWithin(await realpath(doomed), await realpath(shared));
  const isElsewhere = ([name]: readonly [string, string]) => name.startsWith('refs/remotes/');
  const entries = [...refs];
  const values = (list: typeof entries) => list.map(([, commit]) => commit);
  return {
    ours,
    tree,
    objects: join(shared, 'objects'),
    tips: [
      ...(head ? [head] : []),
      ...(goes ? values(entries.filter((entry) => !isElsewhere(entry))) : []),
    ],
    kept: values(goes ? entries.filter(isElsewhere) : entries),
  };
}

async function isChanged({ ours, tree = '', objects }: Look): Promise<boolean> {
  const env = { GIT_DIR: ours, GIT_WORK_TREE: tree, GIT_OBJECT_DIRECTORY: objects };
  // Each submodule is a repository of its own, and is looked at by itself.
  const args = ['status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=all'];
  const own = ['-c', 'core.bare=false', '-c', 'core.fsmonitor=false', '-C', tree, ...args];
  return (await run(ours, env, own)) !== '';
}

async function hasOwnCommits({ ours, objects, tips, kept }: Look): Promise<boolean> {
  if (tips.length === 0) return false;
  const env = { GIT_DIR: ours, GIT_OBJECT_DIRECTORY: objects };
  const names = [...tips, ...kept.map((commit) => `^${commit}`)];
  return (await run(ours, env, ['rev-list', '--max-count=1', '--stdin'], names.join('\n'))) !== '';
}

/** `.git` is a folder, or a file that names one. */
async function gitFolder(git: string): Promise<string> {
  if ((await stat(git)).isDirectory()) return git;
  const [, path] = /^gitdir: (.+)\n*$/.exec(await text(git)) ?? [];
  if (path === undefined) throw new Error(`${git} names no repository`);
  const folder = resolve(git, '..', path);
  if (!(await exists(folder))) throw new Error('its repository is gone');
  return folder;
}

/** What the working trees of a repository have in common. */
async function sharedFolder(own: string): Promise<string> {
  const path = (await readRegularFile(join(own, 'commondir'), MAX_BYTES).catch(ifMissing))
    ?.toString()
    .trim();
  return path === undefined ? own : resolve(own, path);
}

/** Names to commits; a name that stands by itself wins over the packed one. */
async function readRefs(shared: string): Promise<ReadonlyMap<string, string>> {
  const packed = (await readRegularFile(join(shared, 'packed-refs'), MAX_BYTES).catch(ifMissing))
    ?.toString()
    .matchAll(/^([0-9a-f]{40}) (refs\/\S+)$/gm);
  const refs = new Map([...(packed ?? [])].map(([, commit = '', name = '']) => [name, commit]));
  const files = await readdir(join(shared, 'refs'), { recursive: true, withFileTypes: true });
  if (files.length > MOST_REFS) throw new Error('it has too many branches');
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
const MOST_REFS = 50_000;
const LONGEST_MS = 60_000;

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

/** Started in a folder of ours: with a relative folder in PATH, a "git" could lie in another one. */
function run(
  cwd: string,
  own: Readonly<Record<string, string>>,
  args: readonly string[],
  input = '',
): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const env = {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    GIT_TEMPLATE_DIR: '',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_OPTIONAL_LOCKS: '0',
    // A missing object is never fetched.
    GIT_ALLOW_PROTOCOL: 'none',
    ...own,
  };
  return new Promise((resolve, reject) => {
    const options = { cwd, env, timeout: LONGEST_MS, maxBuffer: MAX_BYTES };
    const child = execFile('git', args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const isMissing = 'code' in error && error.code === 'ENOENT';
      reject(new Error(isMissing ? 'there is no git' : stderr.trim() || error.message));
    });
    // It may fail before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
