import { crc32, deflateRawSync } from 'node:zlib';

/** An entry, and the claims of the archive about it that differ from the truth. */
export interface ZipPart {
  readonly name: string;
  readonly content?: string | Uint8Array;
  readonly deflate?: boolean;
  readonly flags?: number;
  readonly method?: number;
  /** Unix mode, for example 0o120777 for a link. */
  readonly mode?: number;
  readonly declaredSize?: number;
  readonly declaredCrc?: number;
  /** The values of the local header, if they differ from the directory. */
  readonly local?: Omit<ZipPart, 'content' | 'deflate' | 'local'>;
  /** An extra field in both headers. */
  readonly extra?: Buffer;
  /** After the data: the sizes of 32 or 64 bits that flag 8 announces, or any other data. */
  readonly descriptor?: 'short' | 'signed' | 'wide' | Buffer;
}

export interface ZipEnd {
  readonly entries?: number;
  /** Entries on this disk. */
  readonly here?: number;
  readonly comment?: string;
  /** Precedes everything. Offsets count from its end, or from the start of the file. */
  readonly front?: string;
  readonly offsetsFrom?: 'entries' | 'file';
  /** Placed between the entries and the directory, or between the directory and the end. */
  readonly beforeDirectory?: string;
  readonly beforeEnd?: string;
  readonly back?: string;
}

/** A zip archive, as honest or as hostile as its parts. */
export function writeZip(parts: readonly ZipPart[], end: ZipEnd = {}): Buffer {
  const { front = '', beforeDirectory = '', beforeEnd = '', back = '', comment = '' } = end;
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  const start = end.offsetsFrom === 'entries' ? 0 : front.length;
  let offset = start;
  for (const part of parts) {
    const name = Buffer.from(part.name);
    const content = Buffer.from(part.content ?? '');
    const packed = part.deflate ? deflateRawSync(content) : content;
    const extra = part.extra ?? Buffer.alloc(0);
    const local = localEntry(part, content, packed, extra);
    bodies.push(local);
    const common = commonHeader(part, content, packed, name, extra);
    directory.push(Buffer.concat([directoryHeader(part, common, name, offset), extra]));
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  const directoryStart = offset + beforeDirectory.length;
  return Buffer.concat([
    Buffer.from(front, 'latin1'),
    ...bodies,
    Buffer.from(beforeDirectory, 'latin1'),
    entries,
    Buffer.from(beforeEnd, 'latin1'),
    endHeader(end, parts.length, entries.length, directoryStart),
    Buffer.from(comment + back, 'latin1'),
  ]);
}

function localEntry(part: ZipPart, content: Buffer, packed: Buffer, extra: Buffer): Buffer {
  const said = { ...part, ...part.local };
  const name = Buffer.from(said.name);
  const header = commonHeader(said, content, packed, name, extra);
  const isStreamed = part.descriptor !== undefined && !Buffer.isBuffer(part.descriptor);
  if (isStreamed) header.fill(0, 10, 22);
  const signature = Buffer.from('PK\x03\x04', 'latin1');
  return Buffer.concat([
    signature,
    header,
    name,
    extra,
    packed,
    descriptorOf(part, content, packed),
  ]);
}

function descriptorOf({ descriptor }: ZipPart, content: Buffer, packed: Buffer): Buffer {
  if (descriptor === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(descriptor)) return descriptor;
  const wide = descriptor === 'wide';
  const sums = Buffer.alloc(wide ? 20 : 12);
  sums.writeUInt32LE(crc32(content), 0);
  if (wide) {
    sums.writeBigUInt64LE(BigInt(packed.length), 4);
    sums.writeBigUInt64LE(BigInt(content.length), 12);
  } else {
    sums.writeUInt32LE(packed.length, 4);
    sums.writeUInt32LE(content.length, 8);
  }
  return descriptor === 'short' ? sums : Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), sums]);
}

/** The 26 bytes that the local and the central header share. */
function commonHeader(
  part: ZipPart,
  content: Buffer,
  packed: Buffer,
  name: Buffer,
  extra: Buffer,
): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(part.flags ?? 0x0800, 2);
  header.writeUInt16LE(part.method ?? (part.deflate ? 8 : 0), 4);
  header.writeUInt16LE(0x21, 8);
  header.writeUInt32LE(part.declaredCrc ?? crc32(content), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(part.declaredSize ?? content.length, 18);
  header.writeUInt16LE(name.length, 22);
  header.writeUInt16LE(extra.length, 24);
  return header;
}

function directoryHeader(part: ZipPart, common: Buffer, name: Buffer, offset: number): Buffer {
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(((part.mode ?? 0o100644) << 16) >>> 0, 6);
  rest.writeUInt32LE(offset, 10);
  const madeByUnix = Buffer.from([20, 3]);
  return Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), madeByUnix, common, rest, name]);
}

function endHeader(said: ZipEnd, count: number, length: number, start: number): Buffer {
  const entries = said.entries ?? count;
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(said.here ?? entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(start, 16);
  end.writeUInt16LE(said.comment?.length ?? 0, 20);
  return end;
}
