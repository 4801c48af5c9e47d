import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { openRegularFile } from '../files/regular-file.ts';
import type { SourceFile } from '../model/source.ts';
import { UserError } from '../model/user-error.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { isStateFile } from '../parse/state.ts';
import { MAX_STATE_BYTES, TOO_LARGE } from './folder.ts';
import { listEntries } from './zip-entries.ts';
import { flatten } from './zip-layout.ts';
import { type PlacedEntry, readAt, type ZipEntry } from './zip-parts.ts';

/**
 * The files of an archive. All claims of its directory are checked before anything is unpacked. No
 * more is unpacked than the directory declares.
 */
export async function readZip(path: string, name: string): Promise<readonly ZipFile[]> {
  const archive = await openRegularFile(path);
  try {
    const { size } = await archive.stat();
    const entries = flatten(await listEntries(archive, size, name), name);
    const files: ZipFile[] = [];
    for (const { file, entry } of entries) {
      const tooLarge = (isStateFile(file) || file === MANIFEST) && entry.size > MAX_STATE_BYTES;
      const content = tooLarge ? TOO_LARGE : { bytes: await unpack(archive, entry, name) };
      files.push({ name: file, content, mode: (entry.attr >>> 16) & 0o777 });
    }
    return files;
  } finally {
    await archive.close();
  }
}

interface ZipFile extends SourceFile {
  /** The permission bits; 0 if the archive has none. */
  readonly mode: number;
}

const STORED = 0;
const DEFLATED = 8;

async function unpack(archive: FileHandle, entry: PlacedEntry, name: string): Promise<Uint8Array> {
  const packed = await readAt(archive, entry.dataOffset, entry.compressedSize);
  if (!packed) throw damaged(entry, name);
  const bytes = await inflate(packed, entry, name);
  if (bytes.length !== entry.size || crc32(bytes) !== entry.crc) throw damaged(entry, name);
  return bytes;
}

const inflated = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

async function inflate(packed: Buffer, entry: ZipEntry, name: string): Promise<Buffer> {
  if (entry.method === STORED) return packed;
  if (entry.method !== DEFLATED) {
    throw new UserError(
      'zip-method',
      `${entry.name} in ${name} uses compression method ${entry.method}, which Raymond does not support.`,
      'Pack it again with the usual method, deflate.',
    );
  }
  try {
    return await inflated(packed, { maxOutputLength: Math.max(1, entry.size) });
  } catch (error) {
    const isBomb =
      error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (!isBomb) throw damaged(entry, name);
    throw new UserError(
      'zip-too-large',
      `${entry.name} in ${name} unpacks to more than the archive declares.`,
      'Do not use this archive. It is malicious or damaged.',
    );
  }
}

function damaged(entry: ZipEntry, name: string): UserError {
  return new UserError(
    'zip-damaged',
    `${entry.name} in ${name} is damaged: its checksum or its size does not match.`,
    'Pack or copy the archive again.',
  );
}
