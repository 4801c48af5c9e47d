/**
 * Inspects an untrusted repository with git. Its configuration can name programs (filters, monitors,
 * hooks), and git would run them. So git works in a scratch folder, which takes only the objects, the
 * index and the refs from the repository.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isWithin, readRegularFile } from '../files/regular-file.ts';

export interface Repository {
  /** The `.git` folder or file of a working tree, or the folder of a bare repository. */
  readonly git: string;
  readonly tree: string | undefined;
}

/** Why removing the folder `doomed` would lose work of this repository; undefined if it would not. */
export async function lookThroughGit(
  repository: Repository,
  doomed: string,
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
  doomed: string,
): Promise<Inspection> {
  const own = await gitFolder(git);
  const shared = await sharedFolder(own);
  if (await exists(join(shared, 'reftable')))
    throw new Error('it keeps its branches in a reftable');
  const refs = await readRefs(shared);
  const head = headOf(await text(join(own, 'HEAD')), refs);
  await run(scratch, {}, ['init', '-q', '--bare', scratch]);
  await mkdir(join(scratch, 'info'), { recursive: true });
  await writeFile(join(scratch, 'HEAD'), `${head ?? 'ref: refs/heads/nothing-yet'}\n`);
  for (const [from, to] of [
    [join(own, 'index'), 'index'],
    [join(shared, 'shallow'), 'shallow'],
    [join(shared, 'info', 'exclude'), join('info', 'exclude')],
  ] as const) {
    const bytes = await readRegularFile(from, MAX_BYTES).catch(ifMissing);
    if (bytes) await writeFile(join(scratch, to), bytes);
  }
  const isRemoved = isWithin(await realpath(doomed), await realpath(shared));
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
  return (await run(scratch, env, own)) !== '';
}

async function hasOwnCommits({ scratch, objects, tips, kept }: Inspection): Promise<boolean> {
  if (tips.length === 0) return false;
  const env = { GIT_DIR: scratch, GIT_OBJECT_DIRECTORY: objects };
  const names = [...tips, ...kept.map((commit) => `^${commit}`)];
  return (
    (await run(scratch, env, ['rev-list', '--max-count=1', '--stdin'], names.join('\n'))) !== ''
  );
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
const TIMEOUT_MS = 60_000;

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

/** Runs git in the scratch folder: if PATH has a relative folder, another folder could contain a fake git. */
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
    const options = { cwd, env, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES };
    const child = execFile('git', args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const isMissing = 'code' in error && error.code === 'ENOENT';
      reject(new Error(isMissing ? 'git is not installed' : stderr.trim() || error.message));
    });
    // git may fail before it has read all of its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
