/**
 * INV-41: What a step wrote, and how it ended, is read only from the very files that Raymond created.
 *
 * Agents can rename folders and put their own files in place of a step's files. Raymond therefore
 * remembers which file it created, and a path only says where to look for it.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The device, the inode and the time of birth, because inode numbers are soon reused. */
export type FileIdentity = string;

/** A file that Raymond created, or that it emptied before use. */
export interface OwnFile {
  readonly path: string;
  readonly identity: FileIdentity;
}

/** Another file has replaced one that Raymond created. */
export class ForeignFile extends Error {
  constructor(path: string) {
    super(
      `${path} is not the file that Raymond created there: it was replaced, moved or linked. Nothing in it was used.`,
    );
  }
}

export interface Opened {
  readonly descriptor: number;
  readonly identity: FileIdentity;
  readonly size: number;
}

/**
 * Opens a file to write to it, and empties it. Creates it if it does not exist. Throws if others could
 * reach it by another name.
 */
export function makeOwnFile(path: string, flags = 0): Opened {
  const access = constants.O_WRONLY | constants.O_CREAT | flags;
  const opened = inspected(path, openSync(path, access | SAFELY, 0o600));
  // Only if needed, because ext4 writes a truncated file to the disk when it is closed.
  if (opened.size > 0) ftruncateSync(opened.descriptor);
  return opened;
}

/** Writes a file that Raymond alone writes. Links are not followed. */
export function writeOwnFile(path: string, content: string): FileIdentity {
  const { descriptor, identity } = makeOwnFile(path);
  try {
    writeFileSync(descriptor, content);
    return identity;
  } finally {
    closeSync(descriptor);
  }
}

/** The same, but appends to the file. */
export function appendOwnFile(path: string, content: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | SAFELY;
  const { descriptor } = inspected(path, openSync(path, flags, 0o600));
  try {
    writeFileSync(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
}

/** Empties a file of an old step, to use it again. Throws if it is not the file that Raymond created. */
export function emptied(path: string): FileIdentity {
  const opened = inspected(path, openSync(path, constants.O_WRONLY | SAFELY));
  try {
    if ((opened.mode & 0o777) !== 0o600) throw new ForeignFile(path);
    if (opened.size > 0) ftruncateSync(opened.descriptor);
    return opened.identity;
  } finally {
    closeSync(opened.descriptor);
  }
}

/** Opens a file to read it. Throws if it is not the one that Raymond created. */
export function openOwnFile({ path, identity }: OwnFile): Opened {
  const opened = openUnlinkedFile(path);
  if (opened.identity === identity) return opened;
  closeSync(opened.descriptor);
  throw new ForeignFile(path);
}

/** A message for people if the file is no longer where Raymond created it, or has a second name. */
export function displaced(file: OwnFile): string | undefined {
  try {
    closeSync(openOwnFile(file).descriptor);
    return undefined;
  } catch {
    return `${file.path} was replaced, moved or linked. Raymond reads only the file that it created itself.`;
  }
}

/** Opens a file that others cannot reach by another name, to read it. */
export function openUnlinkedFile(path: string): Opened {
  return inspected(path, openSync(path, constants.O_RDONLY | SAFELY));
}

/** The same as `openOwnFile`, for reading while others work. */
export async function openOwnHandle({ path, identity }: OwnFile): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | SAFELY);
  try {
    const stats = await handle.stat({ bigint: true });
    if (isOurs(stats) && identityIn(stats) === identity) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new ForeignFile(path);
}

/** The identity of an open file of any kind. */
export function identityOf(descriptor: number): FileIdentity {
  return identityIn(fstatSync(descriptor, { bigint: true }));
}

/** Links are not followed, and a named pipe does not block. Windows has neither. */
const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function inspected(path: string, descriptor: number): Opened & { readonly mode: number } {
  const stats = fstatSync(descriptor, { bigint: true });
  if (isOurs(stats))
    return {
      descriptor,
      identity: identityIn(stats),
      size: Number(stats.size),
      mode: Number(stats.mode),
    };
  closeSync(descriptor);
  throw new ForeignFile(path);
}

/** A second link would let its content change under another name. */
function isOurs(stats: BigIntStats): boolean {
  const uid = process.getuid?.();
  return stats.isFile() && stats.nlink === 1n && (uid === undefined || stats.uid === BigInt(uid));
}

function identityIn({ dev, ino, birthtimeNs }: BigIntStats): FileIdentity {
  return `${dev}-${ino}-${hasBirthTime() ? birthtimeNs : 0n}`;
}

let knowsBirth: boolean | undefined;

/**
 * Without the system call statx, Node returns the time of the last change instead. The files of /proc
 * have no time of birth.
 */
function hasBirthTime(): boolean {
  knowsBirth ??=
    process.platform !== 'linux' || statSync('/proc/self', { bigint: true }).birthtimeNs === 0n;
  return knowsBirth;
}
