import { crc32, deflateRawSync } from 'node:zlib';

/** An entry, and what the archive shall say of it where that differs from the truth. */
export interface ZipPart {
  readonly name: string;
  readonly content?: string | Uint8Array;
  readonly deflate?: boolean;
  readonly flags?: number;
  readonly method?: number;
  /** Unix mode, e.g. 0o120777 for a link. */
  readonly mode?: number;
  readonly declaredSize?: number;
  readonly declaredCrc?: number;
}

/** A zip archive, as honest or as hostile as its parts. */
export function writeZip(parts: readonly ZipPart[], end: { entries?: number } = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const part of parts) {
    const name = Buffer.from(part.name);
    const content = Buffer.from(part.content ?? '');
    const packed = part.deflate ? deflateRawSync(content) : content;
    const common = commonHeader(part, content, packed, name);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]);
    bodies.push(local);
    directory.push(directoryHeader(part, common, name, offset));
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  return Buffer.concat([
    ...bodies,
    entries,
    endHeader(end.entries ?? parts.length, entries.length, offset),
  ]);
}

/** The 26 bytes that the local and the central header share. */
function commonHeader(part: ZipPart, content: Buffer, packed: Buffer, name: Buffer): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(part.flags ?? 0x0800, 2);
  header.writeUInt16LE(part.method ?? (part.deflate ? 8 : 0), 4);
  header.writeUInt16LE(0x21, 8);
  header.writeUInt32LE(part.declaredCrc ?? crc32(content), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(part.declaredSize ?? content.length, 18);
  header.writeUInt16LE(name.length, 22);
  return header;
}

function directoryHeader(part: ZipPart, common: Buffer, name: Buffer, offset: number): Buffer {
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(((part.mode ?? 0o100644) << 16) >>> 0, 6);
  rest.writeUInt32LE(offset, 10);
  const madeByUnix = Buffer.from([20, 3]);
  return Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), madeByUnix, common, rest, name]);
}

function endHeader(entries: number, length: number, start: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(start, 16);
  return end;
}
