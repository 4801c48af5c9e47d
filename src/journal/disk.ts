/**
 * The interface to the file system for all files that must survive a crash. Tests replace it to make
 * the n-th operation fail.
 */
import { randomUUID } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { linkProblem, ownershipProblem } from '../files/ownership.ts';
import {
  openRegularFile,
  openRegularFileSync,
  tooLarge,
  UnusableFile,
} from '../files/regular-file.ts';

export interface Disk {
  /**
   * `read`: must exist. `change`: must exist, read and write. `create`: must not exist, 0600. An
   * existing file must be a regular file that no other user can change, not a link, and without a
   * second name.
   */
  open(path: string, how: 'read' | 'change' | 'create'): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file. EEXIST if the name exists, so one of several callers wins. */
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** 0700. EEXIST if the path exists. */
  mkdir(path: string): Promise<void>;
  list(path: string): Promise<string[]>;
  kind(path: string): Promise<'file' | 'folder' | undefined>;
  /** Does not follow a link. */
  look(path: string): Promise<Seen | undefined>;
  chmod(path: string, mode: number): Promise<void>;
  /** Differs between a file and a later file with the same name. Undefined if the path does not exist. */
  identity(path: string): Promise<string | undefined>;
  /** Rejects if files cannot be created in a folder. */
  checkWritable(path: string): Promise<void>;
  /** Makes added and removed names of a folder survive a power cut. */
  syncFolder(path: string): Promise<void>;
}

export interface Seen {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly uid: number;
  readonly mode: number;
  /** Identifies the file system. */
  readonly device: number;
  /** Differs after every change of the file, or of the names in the folder, and for every copy. */
  readonly stamp: string;
  /** The time of the last change, in ms since the epoch, by the clock of the file system. */
  readonly changedAt: number;
}

/** Reads and writes name their position, so a failed write cannot shift the next one. */
export interface DiskFile {
  /** As returned by `Disk.identity` for the file's name. */
  identity(): Promise<string>;
  size(): Promise<number>;
  /** Returns how many bytes were read; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Returns how many bytes were written, possibly fewer than requested. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export const realDisk: Disk = {
  async open(path, how) {
    if (how === 'create') return diskFile(await fs.open(path, 'wx+', 0o600));
    if (how === 'read') {
      const descriptor = openRegularFileSync(path);
      return ownFile(path, descriptor, fileToRead(descriptor));
    }
    const file = await openRegularFile(path, how, { followLink: false });
    return ownFile(path, file.fd, diskFile(file));
  },
  rename: (from, to) => fs.rename(from, to),
  link: (from, to) => fs.link(from, to),
  unlink: (path) => fs.unlink(path),
  mkdir: (path) => fs.mkdir(path, 0o700),
  list: async (path) => readdirSync(path),
  kind: (path) => ifExists(async () => ((await fs.stat(path)).isDirectory() ? 'folder' : 'file')),
  // Both are called often, and a direct call is faster than handing the work to a thread.
  look: (path) => ifExists(async () => seenFrom(lstatSync(path))),
  identity: (path) => ifExists(async () => identityOf(statSync(path, { bigint: true }))),
  chmod: (path, mode) => fs.chmod(path, mode),
  checkWritable: (path) => fs.access(path, fs.constants.W_OK),
  async syncFolder(path) {
    // Windows cannot open a folder, and its file systems journal names on their own.
    if (process.platform === 'win32') return;
    await thenClose(await fs.open(path, 'r'), (folder) => folder.sync());
  },
};

/** Replaces a file that can be recreated. After a power cut it may have any content. */
export async function replaceCache(disk: Disk, path: string, text: string): Promise<void> {
  const fill = (file: DiskFile) => writeAll(file, Buffer.from(text), 0);
  await renameTo(disk, await writeBeside(disk, path, fill, 'unsynced'), path);
}

/** Replaces a file as a whole. A reader always finds the old text or the new one. */
export function replaceFile(disk: Disk, path: string, text: string): Promise<void> {
  return replaceWith(disk, path, (file) => writeAll(file, Buffer.from(text), 0));
}

export async function replaceWith(
  disk: Disk,
  path: string,
  fill: (file: DiskFile) => Promise<void>,
): Promise<void> {
  await renameTo(disk, await writeBeside(disk, path, fill), path);
  await disk.syncFolder(dirname(path));
}

async function renameTo(disk: Disk, complete: string, path: string): Promise<void> {
  try {
    await disk.rename(complete, path);
  } catch (error) {
    await disk.unlink(complete).catch(() => {});
    throw error;
  }
}

/** Writes a complete file under a temporary name, to be renamed or linked to its path. */
export async function writeBeside(
  disk: Disk,
  path: string,
  fill: (file: DiskFile) => Promise<void>,
  how: 'synced' | 'unsynced' = 'synced',
): Promise<string> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.tmp`);
  const file = await disk.open(temporary, 'create');
  try {
    await thenClose(file, async () => {
      await fill(file);
      if (how === 'synced') await file.sync();
    });
  } catch (error) {
    await disk.unlink(temporary).catch(() => {});
    throw error;
  }
  return temporary;
}

export async function writeAll(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(bytes.subarray(done), position + done);
    if (written === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    done += written;
  }
}

/** Creates a folder and the folders above it, so that they survive a power cut. It may already exist. */
export async function makeFolder(disk: Disk, path: string, hasParent = false): Promise<void> {
  if ((await disk.kind(path)) === 'folder') return;
  try {
    await disk.mkdir(path);
  } catch (error) {
    if (hasCode(error, 'EEXIST') && (await disk.kind(path)) === 'folder') return;
    // Some file systems refuse a new folder with the same code as a missing parent: /proc.
    if (!hasCode(error, 'ENOENT') || dirname(path) === path || hasParent) throw error;
    await makeFolder(disk, dirname(path));
    return makeFolder(disk, path, true);
  }
  await disk.syncFolder(dirname(path));
}

/** The text of a small file. Undefined if the file does not exist. */
export async function readText(
  disk: Disk,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  return (await readBytes(disk, path, maxBytes))?.toString('utf8');
}

export async function readBytes(
  disk: Disk,
  path: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  let file: DiskFile;
  try {
    file = await disk.open(path, 'read');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  return thenClose(file, async () => {
    const chunks: Uint8Array[] = [];
    for (let position = 0; position <= maxBytes; ) {
      const chunk = Buffer.allocUnsafe(16_384);
      const got = await file.read(chunk, position);
      if (got === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, got));
      position += got;
    }
    throw tooLarge(maxBytes);
  });
}

/** Uses an open file and always closes it. */
export async function thenClose<T extends { close(): Promise<void> }, R>(
  open: T,
  use: (open: T) => Promise<R>,
): Promise<R> {
  let result: R;
  try {
    result = await use(open);
  } catch (error) {
    await open.close().catch(() => {});
    throw error;
  }
  await open.close();
  return result;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** A process can set the time of a file's content (mtime), but not that of its last change (ctime). */
function seenFrom(found: Stats): Seen {
  const { uid, mode, dev: device, ino, size, mtimeMs, ctimeMs } = found;
  const stamp = [ino, size, mtimeMs, ctimeMs].join(' ');
  return { kind: kindOf(found), uid, mode, device, stamp, changedAt: Math.max(mtimeMs, ctimeMs) };
}

/** Longer than the steps in which any file system counts time. */
const SETTLED_MS = 2_000;

/** Two changes in one step of the clock may leave the same stamp, so a new stamp proves nothing yet. */
export function isSettled(seen: Seen | undefined, kind: Seen['kind'], now: number): seen is Seen {
  return seen?.kind === kind && seen.changedAt < now - SETTLED_MS;
}

function kindOf(found: Stats): Seen['kind'] {
  if (found.isSymbolicLink()) return 'link';
  if (found.isDirectory()) return 'folder';
  return found.isFile() ? 'file' : 'other';
}

async function ifExists<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

const identityOf = ({ dev, ino }: BigIntStats) => `${dev}:${ino}`;

/** The files of Raymond have authority. Checked when it is open, because a path can be replaced. */
async function ownFile(path: string, descriptor: number, file: DiskFile): Promise<DiskFile> {
  const stat = () => fstatSync(descriptor);
  const problem = ownershipProblem(stat()) ?? linkProblem(path, stat);
  if (problem === undefined) return file;
  await file.close();
  throw new UnusableFile('OF-OTHERS', problem);
}

/** Commands read many small files. This is faster than handing each operation to a thread. */
function fileToRead(descriptor: number): DiskFile {
  return {
    identity: async () => identityOf(fstatSync(descriptor, { bigint: true })),
    size: async () => fstatSync(descriptor).size,
    read: async (into, position) => readSync(descriptor, into, 0, into.length, position),
    // The system refuses these.
    write: async (bytes, position) => writeSync(descriptor, bytes, 0, bytes.length, position),
    truncate: async (length) => ftruncateSync(descriptor, length),
    sync: async () => fsyncSync(descriptor),
    close: async () => closeSync(descriptor),
  };
}

const FEW_BYTES = 64 * 1024;

function diskFile(handle: fs.FileHandle): DiskFile {
  return {
    identity: async () => identityOf(await handle.stat({ bigint: true })),
    size: async () => (await handle.stat()).size,
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    // Copying a few bytes is faster than handing the work to a thread. Only the sync takes long.
    write: async (bytes, position) =>
      bytes.length <= FEW_BYTES
        ? writeSync(handle.fd, bytes, 0, bytes.length, position)
        : (await handle.write(bytes, 0, bytes.length, position)).bytesWritten,
    truncate: (length) => handle.truncate(length),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}
