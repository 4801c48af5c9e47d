/**
 * The entries of an archive. Programs find them in different ways: by the directory at the end, or
 * from one local header to the next. An archive is accepted only if both ways lead to the same
 * entries. Local headers, data and directory must follow each other without a gap, and must agree.
 */
import type { FileHandle } from 'node:fs/promises';
import { UserError } from '../model/user-error.ts';
import { checkLocalHeaders } from './zip-local-headers.ts';
import {
  checkOtherName,
  inconsistent,
  type PlacedEntry,
  readAt,
  type ZipEntry,
} from './zip-parts.ts';

const MAX_ENTRIES = 10_000;

/** Every entry, in the order of the directory. */
export async function listEntries(
  archive: FileHandle,
  archiveSize: number,
  name: string,
): Promise<readonly PlacedEntry[]> {
  const end = await findEnd(archive, archiveSize, name);
  if (end.entries > MAX_ENTRIES || end.directoryLength > MAX_DIRECTORY_BYTES) {
    throw new UserError(
      'zip-too-many',
      `${name} has more than ${MAX_ENTRIES.toLocaleString('en')} entries.`,
      'Pack only the files of the workflow.',
    );
  }
  const directoryEnd = end.directoryStart + end.directoryLength;
  if (directoryEnd > end.position) throw notAZip(name);
  if (directoryEnd < end.position) throw inconsistent(name, 'it contains data outside its entries');
  if (end.isSplit) throw inconsistent(name, 'it is one part of a larger archive');
  const directory = await readAt(archive, end.directoryStart, end.directoryLength);
  if (!directory) throw notAZip(name);
  const entries = readDirectory(directory, name);
  if (entries.length !== end.entries) {
    const [announced, found] = [end.entries, entries.length];
    throw inconsistent(
      name,
      `its end record announces ${announced} entries, but its directory has ${found}`,
    );
  }
  return checkLocalHeaders(archive, entries, end.directoryStart, name);
}

/** Ten thousand entries with names of usual length need less. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;

const END = { signature: Buffer.from('PK\x05\x06', 'latin1'), length: 22, comment: 0xffff };

async function findEnd(archive: FileHandle, archiveSize: number, name: string) {
  const length = Math.min(archiveSize, END.length + END.comment);
  const tail = await readAt(archive, archiveSize - length, length);
  const at = tail ? tail.lastIndexOf(END.signature) : -1;
  if (!tail || at < 0 || at + END.length > length) throw notAZip(name);
  if (at + END.length + tail.readUInt16LE(at + 20) !== length) {
    throw inconsistent(name, 'its end record is not at the end of the file');
  }
  const entries = tail.readUInt16LE(at + 10);
  return {
    position: archiveSize - length + at,
    entries,
    isSplit: tail.readUInt32LE(at + 4) !== 0 || tail.readUInt16LE(at + 8) !== entries,
    directoryLength: tail.readUInt32LE(at + 12),
    directoryStart: tail.readUInt32LE(at + 16),
  };
}

const HEADER = { signature: 0x02014b50, length: 46 };

function readDirectory(directory: Buffer, archive: string): readonly ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; at < directory.length; ) {
    const header = directory.subarray(at, at + HEADER.length);
    const isHeader = header.length === HEADER.length && header.readUInt32LE(0) === HEADER.signature;
    if (!isHeader) throw inconsistent(archive, 'its directory contains data that is not an entry');
    const nameLength = header.readUInt16LE(28);
    const extraLength = header.readUInt16LE(30);
    const nameEnd = at + HEADER.length + nameLength;
    const end = nameEnd + extraLength + header.readUInt16LE(32);
    if (end > directory.length) throw inconsistent(archive, 'its directory is cut off');
    const name = directory.toString('utf8', at + HEADER.length, nameEnd);
    checkOtherName(name, directory.subarray(nameEnd, nameEnd + extraLength), archive);
    entries.push({
      name,
      flags: header.readUInt16LE(8),
      method: header.readUInt16LE(10),
      crc: header.readUInt32LE(16),
      compressedSize: header.readUInt32LE(20),
      size: header.readUInt32LE(24),
      attr: header.readUInt32LE(38),
      offset: header.readUInt32LE(42),
    });
    at = end;
  }
  return entries;
}

function notAZip(name: string): UserError {
  return new UserError(
    'bad-zip',
    `${name} is not a zip archive, or it is cut off.`,
    'Pack or copy it again.',
  );
}
