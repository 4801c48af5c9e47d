import { crc32, deflateRawSync } from 'node:zlib';

export interface ZippedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The permission bits. */
  readonly mode: number;
}

/** A flat zip archive. The same files always produce the same bytes. */
export function writeZip(files: readonly ZippedFile[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const name = Buffer.from(file.name);
    const packed = deflateRawSync(file.bytes);
    const common = commonHeader(file.bytes, packed, name);
    const body = Buffer.concat([LOCAL_HEADER, common, name, packed]);
    bodies.push(body);
    directory.push(directoryEntry(common, name, file.mode, offset));
    offset += body.length;
  }
  const entries = Buffer.concat(directory);
  return Buffer.concat([...bodies, entries, endRecord(files.length, entries.length, offset)]);
}

const LOCAL_HEADER = Buffer.from('PK\x03\x04', 'latin1');
const DIRECTORY_ENTRY = Buffer.from('PK\x01\x02', 'latin1');
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;
const VERSION = 20;
const UNIX = 3;
const REGULAR_FILE = 0o100000;
/** 1 January 1980, the first day of this format. */
const NO_DATE = 0x21;

/** The part that the local header and the directory share. */
function commonHeader(bytes: Uint8Array, packed: Buffer, name: Buffer): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(VERSION, 0);
  header.writeUInt16LE(UTF8_NAMES, 2);
  header.writeUInt16LE(DEFLATED, 4);
  header.writeUInt16LE(NO_DATE, 8);
  header.writeUInt32LE(crc32(bytes), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(bytes.length, 18);
  header.writeUInt16LE(name.length, 22);
  return header;
}

function directoryEntry(common: Buffer, name: Buffer, mode: number, offset: number): Buffer {
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(((REGULAR_FILE | mode) << 16) >>> 0, 6);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([DIRECTORY_ENTRY, Buffer.from([VERSION, UNIX]), common, rest, name]);
}

function endRecord(count: number, length: number, start: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(start, 16);
  return end;
}
