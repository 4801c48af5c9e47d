/**
 * The files of a trigger. Whoever writes into the folder is not trusted: links are refused, also that of the folder
 * itself, and a file is moved only if it is still the very one that was taken.
 */
import { link, lstat, mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FilesTrigger, OccasionCause } from '../model/trigger.ts';

export type FileCause = Extract<OccasionCause, { readonly kind: 'files' }>;

export interface FoundFile {
  readonly cause: FileCause;
  /** Why it must not start a run. */
  readonly problem?: string;
}

export interface Inbox {
  /** The files that have not changed since an earlier look, and whether others are being written. */
  look(now: number): Promise<{
    readonly files: readonly FoundFile[];
    readonly isBusy: boolean;
    /** Why the folder has no files. Only when it begins. */
    readonly problem?: string;
  }>;
}

export function inbox(project: string, { pattern }: FilesTrigger): Inbox {
  const folder = dirname(pattern);
  const isMeant = matcher(basename(pattern));
  /** When each file was first seen as it is. */
  let seen = new Map<string, { readonly identity: string; readonly since: number }>();
  /** The folder without any of the files. It is sure when it was also read some time after it changed. */
  let empty = { stamp: '', since: 0, isSure: false };
  let wasLinked = false;
  return {
    async look(now) {
      const stamp = await stampOf(join(project, folder));
      const isSame = stamp === empty.stamp;
      if (isSame && empty.isSure) return { files: [], isBusy: false };
      const isLinked = await isReachedByLink(project, folder);
      const isNews = isLinked && !wasLinked;
      wasLinked = isLinked;
      const names = isLinked ? [] : (await namesIn(join(project, folder))).filter(isMeant);
      const files: FoundFile[] = [];
      const next: typeof seen = new Map();
      for (const name of names.slice(0, MOST_FILES)) {
        const path = `${folder}/${name}`;
        const found = await lstat(join(project, path), { bigint: true }).catch(() => undefined);
        if (!found || found.isDirectory()) continue;
        const identity = `${found.ino}:${found.size}:${found.mtimeNs}`;
        const before = seen.get(path);
        const since = before?.identity === identity ? Math.min(before.since, now) : now;
        next.set(path, { identity, since });
        if (now - since < STABLE_MS) continue;
        const cause = { kind: 'files', path, identity } as const;
        const problem = problemOf(name, found);
        files.push(problem === undefined ? { cause } : { cause, problem });
      }
      const isBusy = [...next.values()].some(({ since }) => now - since < STABLE_MS);
      seen = next;
      const since = isSame ? Math.min(empty.since, now) : now;
      const isSure = now - since >= STABLE_MS;
      empty = { stamp: next.size === 0 ? stamp : '', since, isSure };
      const problem = `${folder} is reached through a link, so its files start nothing`;
      return { files, isBusy, ...(isNews && { problem }) };
    },
  };
}

/** Changes when a name comes or goes, but not twice within one tick of the clock of a file system. */
async function stampOf(folder: string): Promise<string> {
  const found = await stat(folder, { bigint: true }).catch(() => undefined);
  return found ? `${found.dev}:${found.ino}:${found.mtimeNs}:${found.ctimeNs}` : 'none';
}

/** Whether a path of the project fits the pattern. */
export function isMeantFile({ pattern }: FilesTrigger, path: string): boolean {
  return dirname(path) === dirname(pattern) && matcher(basename(pattern))(basename(path));
}

/** A file that did not change for so long is complete. */
export const STABLE_MS = 1_000;
const MOST_FILES = 10_000;

/** An agent that may write here, but not elsewhere in the project, could otherwise let other files be moved. */
async function isReachedByLink(project: string, folder: string): Promise<boolean> {
  let path = project;
  for (const part of folder.split('/')) {
    path = join(path, part);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isSymbolicLink()) return true;
  }
  return false;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

function problemOf(
  name: string,
  found: { isFile(): boolean; isSymbolicLink(): boolean; readonly nlink: bigint },
): string | undefined {
  if (found.isSymbolicLink()) return 'it is a link';
  if (!found.isFile()) return 'it is not a regular file';
  if (found.nlink > 1n) return 'it has a second name (a hard link)';
  if (/\p{Cc}/u.test(name)) return 'its name has control characters';
  return undefined;
}

/** `*` is any number of characters and `?` is one. Hidden files are written by other programs. */
function matcher(pattern: string): (name: string) => boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  const regexp = new RegExp(`^${source}$`, 'su');
  return (name) => regexp.test(name) && (!name.startsWith('.') || pattern.startsWith('.'));
}

/** Moves a file beside its folder's other ones. Returns its new path, or undefined if it is another file now. */
export async function putAway(
  project: string,
  { path, identity }: FileCause,
  where: 'done' | 'failed',
): Promise<string | undefined> {
  const from = join(project, path);
  const found = await lstat(from, { bigint: true }).catch(() => undefined);
  const [ino] = identity.split(':');
  // The run may have changed the file, but another file with its name is another occasion.
  if (!found?.isFile() || String(found.ino) !== ino) return undefined;
  const folder = join(dirname(from), where);
  await mkdir(folder, { mode: 0o700 }).catch(() => {});
  if (!(await lstat(folder)).isDirectory()) return undefined;
  for (let number = 1; ; number++) {
    const name = number === 1 ? basename(path) : numbered(basename(path), number);
    try {
      await link(from, join(folder, name));
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
      if (!isTaken || number >= MOST_FILES) throw error;
      const there = await lstat(join(folder, name), { bigint: true }).catch(() => undefined);
      // A process that was killed here has left both names.
      if (there?.ino !== found.ino) continue;
    }
    await unlink(from).catch(() => {});
    return `${dirname(path)}/${where}/${name}`;
  }
}

function numbered(name: string, number: number): string {
  const [, stem = name, extension = ''] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? [];
  return `${stem}-${number}${extension}`;
}
