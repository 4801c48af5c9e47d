/** Shared by the reader of an archive's directory and the reader of its local headers. */
import type { FileHandle } from 'node:fs/promises';
import { UserError } from '../model/user-error.ts';

export interface ZipEntry {
  readonly name: string;
  readonly size: number;
  readonly compressedSize: number;
  readonly crc: number;
  readonly flags: number;
  readonly method: number;
  /** The offset of its local header. */
  readonly offset: number;
  /** External attributes: the bits above 16 are the Unix mode. */
  readonly attr: number;
}

/** An entry whose data was found. */
export interface PlacedEntry extends ZipEntry {
  readonly dataOffset: number;
}

/** Reads exactly this many bytes; undefined if there are fewer. */
export async function readAt(
  archive: FileHandle,
  position: number,
  length: number,
): Promise<Buffer | undefined> {
  const buffer = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await archive.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) return undefined;
    done += bytesRead;
  }
  return buffer;
}

export function inconsistent(name: string, how: string): UserError {
  return new UserError(
    'zip-inconsistent',
    `${name} contradicts itself: ${how}. Other programs may find different files in it.`,
    'Do not trust this archive. Pack the files again.',
  );
}

/** Some programs prefer a second name, which an extra field can contain. */
export function checkOtherName(name: string, extra: Buffer, archive: string): void {
  for (const { id, content } of extraFields(extra)) {
    // A version and a checksum precede the name.
    if (id === UNICODE_PATH && content.toString('utf8', 5) !== name) {
      throw inconsistent(archive, `an entry has two names, ${JSON.stringify(name)} and another`);
    }
  }
}

const UNICODE_PATH = 0x7075;

export function extraFields(extra: Buffer): readonly { id: number; content: Buffer }[] {
  const fields: { id: number; content: Buffer }[] = [];
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    fields.push({ id: extra.readUInt16LE(at), content: extra.subarray(at + 4, end) });
    at = end;
  }
  return fields;
}
