/**
 * INV-24: In folders that others can write, Raymond opens only regular files and reads no more than the
 * caller expects.
 *
 * Opening a named pipe would block, opening a device can have effects, and a huge file would fill
 * the memory.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import {
  type FileIdentity,
  type OwnFile,
  openOwnFile,
  openOwnHandle,
  openUnlinkedFile,
} from './own-file.ts';

/** The file exists but must not be used. A missing file causes the usual ENOENT. */
export class UnusableFile extends Error {
  readonly code: 'NOT-A-FILE' | 'TOO-LARGE' | 'LEAVES-FOLDER' | 'OF-OTHERS';

  constructor(code: UnusableFile['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openRegularFile(path);
  try {
    return await readOpenFile(file, maxBytes);
  } finally {
    await file.close();
  }
}

export async function readOpenFile(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  const buffer = roomFor(size, maxBytes);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  return withDescriptor(path, (descriptor, { size }) =>
    fill(descriptor, roomFor(size, maxBytes), 0),
  );
}

/** The content of a file that others cannot reach by another name, and which file it is. */
export function readWithIdentity(
  path: string,
  maxBytes: number,
): { readonly bytes: Buffer; readonly identity: FileIdentity } {
  const { descriptor, size, identity } = openUnlinkedFile(path);
  try {
    return { bytes: fill(descriptor, roomFor(size, maxBytes), 0), identity };
  } finally {
    closeSync(descriptor);
  }
}

/** The size of a file, and its content if it is not larger than a limit. */
export function readIfSmallSync(
  path: string | OwnFile,
  maxBytes: number,
): { readonly size: number; readonly bytes: Buffer | undefined } {
  return withDescriptor(path, (descriptor, { size }) => {
    const bytes = size <= maxBytes ? fill(descriptor, Buffer.alloc(size), 0) : undefined;
    return { size, bytes };
  });
}

/** A part of a file; shorter if the file ends earlier. */
export function readPartSync(path: string | OwnFile, position: number, length: number): Buffer {
  return withDescriptor(path, (descriptor) => fill(descriptor, Buffer.alloc(length), position));
}

/** The end of a file, and how many bytes are before it. */
export function readTailSync(
  path: string | OwnFile,
  bytes: number,
): { readonly from: number; readonly tail: Buffer } {
  return withDescriptor(path, (descriptor, { size }) => {
    const from = Math.max(0, size - bytes);
    return { from, tail: fill(descriptor, Buffer.alloc(size - from), from) };
  });
}

/** A part of a file in a buffer of the caller; at most `length` bytes and as much as fits. */
export function readInto(
  buffer: Buffer,
  path: string | OwnFile,
  position: number,
  length: number,
): Buffer {
  const room = buffer.subarray(0, Math.max(0, Math.min(length, buffer.length)));
  return withDescriptor(path, (descriptor) => fill(descriptor, room, position));
}

/** Reads a file that is inside a folder after links are resolved. */
export async function readFileWithin(
  folder: string,
  name: string,
  maxBytes: number,
): Promise<Buffer> {
  const root = await realpath(folder);
  const real = await realpath(join(root, name));
  if (!isWithin(root, real)) throw leavesFolder();
  return readRegularFile(real, maxBytes);
}

/**
 * `change`: opens it for reading and writing. A link to a regular file is accepted only if links
 * are followed.
 */
export async function openRegularFile(
  path: string | OwnFile,
  access: 'read' | 'change' = 'read',
  { followLink = true } = {},
): Promise<FileHandle> {
  if (typeof path === 'object') return openOwnHandle(path);
  checkKind(await (followLink ? stat(path) : lstat(path)));
  const file = await open(path, FLAGS[access] | (followLink ? 0 : NOFOLLOW));
  try {
    // The path may have been replaced since it was checked.
    checkKind(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Opens a file for reading, and returns its descriptor. Refuses a link. */
export function openRegularFileSync(path: string): number {
  return opened(path, lstatSync(path), FLAGS.read | NOFOLLOW).descriptor;
}

interface Opened {
  readonly descriptor: number;
  /** Describes the file that was opened: the path may have been replaced since it was checked. */
  readonly size: number;
}

function opened(path: string, found: Stats, flags: number): Opened {
  checkKind(found);
  const descriptor = openSync(path, flags);
  try {
    const stats = fstatSync(descriptor);
    checkKind(stats);
    return { descriptor, size: stats.size };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function withDescriptor<T>(
  path: string | OwnFile,
  use: (descriptor: number, file: Pick<Opened, 'size'>) => T,
): T {
  const file =
    typeof path === 'object' ? openOwnFile(path) : opened(path, statSync(path), FLAGS.read);
  try {
    return use(file.descriptor, file);
  } finally {
    closeSync(file.descriptor);
  }
}

function fill(descriptor: number, buffer: Buffer, position: number): Buffer {
  let length = 0;
  while (length < buffer.length) {
    const more = buffer.length - length;
    const bytesRead = readSync(descriptor, buffer, length, more, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** Whether a path is inside a folder. Both paths must have no links. */
export function isWithin(folder: string, path: string): boolean {
  // Most are, and a sandbox compares hundreds of them.
  if (isNormal(folder) && isNormal(path)) return path === folder || path.startsWith(`${folder}/`);
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const isNormal = (path: string) => sep === '/' && /^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/s.test(path);

/** A path with all symbolic links resolved; the same path if it does not exist. */
export function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Windows has no O_NONBLOCK, and no named pipes in folders. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const FLAGS = { read: constants.O_RDONLY | NONBLOCK, change: constants.O_RDWR | NONBLOCK };

function checkKind(found: Stats): void {
  if (!found.isFile()) throw new UnusableFile('NOT-A-FILE', 'it is not a regular file');
}

/** A file that grows while it is read is cut off at its earlier size. */
function roomFor(size: number, maxBytes: number): Buffer {
  if (size > maxBytes) throw tooLarge(maxBytes);
  return Buffer.alloc(size);
}

export function tooLarge(maxBytes: number): UnusableFile {
  return new UnusableFile('TOO-LARGE', `it is larger than ${shown(maxBytes)}`);
}

function shown(bytes: number): string {
  const [kib, mib] = [bytes / 1024, bytes / 1024 / 1024];
  return mib >= 1 ? `${Math.round(mib)} MiB` : `${Math.round(kib)} KiB`;
}

function leavesFolder(): UnusableFile {
  return new UnusableFile('LEAVES-FOLDER', 'it is a link that leaves its folder');
}
