import type { FileHandle } from 'node:fs/promises';
import StreamZip from 'node-stream-zip';
import { UserError } from '../model/user-error.ts';

export interface ZipEntry {
  readonly name: string;
  readonly size: number;
  readonly compressedSize: number;
  readonly crc: number;
  readonly flags: number;
  readonly method: number;
  readonly offset: number;
  /** External attributes: above 16 bits the Unix mode. */
  readonly attr: number;
}

const MAX_ENTRIES = 10_000;

/**
 * What the archive's directory says, each entry as often as it stands there. The archive's end is
 * looked at first: the library would run into an error that nobody can catch on some 64-bit ends.
 */
export async function listEntries(
  archive: FileHandle,
  archiveSize: number,
  name: string,
): Promise<readonly ZipEntry[]> {
  const end = await findEnd(archive, archiveSize);
  if (!end) throw notAZip(name);
  if (end.entries > MAX_ENTRIES) {
    throw new UserError(
      'zip-too-many',
      `${name} holds more than ${MAX_ENTRIES.toLocaleString('en')} entries.`,
      'Pack only the files of the workflow.',
    );
  }
  if (end.entries === 0) return [];
  if (end.directoryStart + end.directoryLength > archiveSize) throw notAZip(name);
  return readDirectory(archive.fd).catch(() => {
    throw notAZip(name);
  });
}

const END = { signature: Buffer.from('PK\x05\x06', 'latin1'), length: 22, comment: 0xffff };

async function findEnd(archive: FileHandle, archiveSize: number) {
  if (archiveSize < END.length) return undefined;
  const length = Math.min(archiveSize, END.length + END.comment);
  const tail = Buffer.alloc(length);
  await archive.read(tail, 0, length, archiveSize - length);
  const at = tail.lastIndexOf(END.signature);
  if (at < 0 || at + END.length > length) return undefined;
  return {
    entries: tail.readUInt16LE(at + 8),
    directoryLength: tail.readUInt32LE(at + 12),
    directoryStart: tail.readUInt32LE(at + 16),
  };
}

function readDirectory(fd: number): Promise<readonly ZipEntry[]> {
  return new Promise((resolve, reject) => {
    const entries: ZipEntry[] = [];
    // Names are checked by us; and its own store would hide an entry behind another of its name.
    const zip = new StreamZip({ fd, storeEntries: false, skipEntryNameValidation: true });
    zip.on('entry', (entry) => entries.push(entry));
    zip.on('ready', () => resolve(entries));
    zip.on('error', reject);
  });
}

function notAZip(name: string): UserError {
  return new UserError(
    'bad-zip',
    `${name} is not a zip archive, or it is cut off.`,
    'Pack or copy it again.',
  );
}
