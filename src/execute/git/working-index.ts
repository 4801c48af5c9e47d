/** Brings an index up to date with the files of a working tree. */
import { constants } from 'node:fs';
import { access, lstat, stat, utimes, writeFile } from 'node:fs/promises';
import { isPlaceholder } from '../../files/command-files.ts';
import { readRegularFile } from '../../files/regular-file.ts';

/** Runs git in the tree, with its index. Texts are bytes. */
export type TreeGit = (args: readonly string[], input?: string) => Promise<string>;

const STATUS = [
  ...['status', '--porcelain=v2', '-z', '--untracked-files=all', '--no-renames'],
  ...['--ignore-submodules=all', '--', '.', ':(exclude,top).raymond'],
];

export const statusOf = (git: TreeGit): Promise<string> => git(STATUS);

/** Puts the files that differ from the index into it; returns whether there were any. */
export async function addChanges(git: TreeGit, status: string, root: string): Promise<boolean> {
  const { changed, deleted } = await changedPaths(status, root);
  await updateIndex(git, REMOVE, deleted);
  await updateIndex(git, ADD, changed);
  return changed.length + deleted.length > 0;
}

export const ADD = ['--add', '--remove', '--replace'];
export const REMOVE = ['--force-remove'];

export async function updateIndex(
  git: TreeGit,
  how: readonly string[],
  paths: readonly string[],
): Promise<void> {
  if (paths.length > 0) await git(['update-index', ...how, '-z', '--stdin'], nulled(paths));
}

export const writeTree = async (git: TreeGit): Promise<string> =>
  (await git(['write-tree', '--missing-ok'])).trim();

export const nulled = (paths: readonly string[]) => paths.map((path) => `${path}\0`).join('');

interface ChangedPaths {
  readonly changed: readonly string[];
  /** A link may be in the place of their folder. */
  readonly deleted: readonly string[];
}

/**
 * The paths of files that differ from the index, from the output of `git status --porcelain=v2 -z`.
 * Nested repositories, unreadable files and very large new files are left out. Each character of a
 * path is one byte.
 */
async function changedPaths(status: string, root: string): Promise<ChangedPaths> {
  const changed: string[] = [];
  const deleted: string[] = [];
  const found: string[] = [];
  for (const entry of status.split('\0')) {
    if (entry.startsWith('? ')) {
      // A repository in the tree has its own history.
      if (!entry.endsWith('/')) found.push(entry.slice(2));
    } else if (entry.startsWith('1 ')) {
      const [, states = '', sub = ''] = entry.split(' ', 3);
      if (states[1] === '.' || !sub.startsWith('N')) continue;
      (states[1] === 'D' ? deleted : changed).push(afterFields(entry, 8));
    } else if (entry.startsWith('u ')) changed.push(afterFields(entry, 10));
  }
  if (found.length > MOST_NEW_FILES)
    throw new Error(
      `it has ${found.length} new files; let git ignore those that are not work, or commit them`,
    );
  for (const path of found) if (await isWanted(root, path)) changed.push(path);
  return { changed, deleted };
}

const MOST_NEW_FILES = 20_000;
const MOST_BYTES = 100 * 1024 * 1024;

/** A path may contain spaces. */
function afterFields(entry: string, count: number): string {
  let at = 0;
  for (let field = 0; field < count; field++) at = entry.indexOf(' ', at) + 1;
  return entry.slice(at);
}

async function isWanted(root: string, path: string): Promise<boolean> {
  const here = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);
  try {
    const kind = await lstat(here);
    if (kind.isSymbolicLink()) return true;
    if (!kind.isFile() || kind.size > MOST_BYTES || isPlaceholder(path, kind)) return false;
    await access(here, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Copies an index with its times, from which git sees which files it need not read again. */
export async function copyWithTimes(from: string, to: string): Promise<void> {
  try {
    await writeFile(to, await readRegularFile(from, MOST_INDEX_BYTES), { mode: 0o600 });
    const { atime, mtime } = await stat(from);
    await utimes(to, atime, mtime);
  } catch (error) {
    // A new repository has no index yet.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

const MOST_INDEX_BYTES = 256 * 1024 * 1024;
