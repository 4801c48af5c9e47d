/** Compares the local header before the data of each entry with the directory. */
import type { FileHandle } from 'node:fs/promises';
import {
  checkOtherName,
  extraFields,
  inconsistent,
  type PlacedEntry,
  readAt,
  type ZipEntry,
} from './zip-parts.ts';

/** The entries with the positions of their data. Together they fill the archive up to the directory. */
export async function checkLocalHeaders(
  archive: FileHandle,
  entries: readonly ZipEntry[],
  directoryStart: number,
  name: string,
): Promise<readonly PlacedEntry[]> {
  const placed = new Map<ZipEntry, PlacedEntry>();
  const inOrder = [...entries].sort((a, b) => a.offset - b.offset);
  let expected = 0;
  for (const [index, entry] of inOrder.entries()) {
    if (entry.offset !== expected) throw inconsistent(name, 'it contains data outside its entries');
    const local = await readLocal(archive, entry, name);
    const dataEnd = local.dataOffset + entry.compressedSize;
    const next = inOrder[index + 1]?.offset ?? directoryStart;
    if (!(await isFilled(archive, local, entry, dataEnd, next))) {
      throw inconsistent(name, `${shown(entry)} does not end where the next entry starts`);
    }
    placed.set(entry, { ...entry, dataOffset: local.dataOffset });
    expected = next;
  }
  if (expected !== directoryStart) throw inconsistent(name, 'it contains data outside its entries');
  return entries.flatMap((entry) => placed.get(entry) ?? []);
}

interface Local {
  readonly hasDescriptor: boolean;
  readonly dataOffset: number;
}

const LOCAL = { signature: 0x04034b50, length: 30 };

/** Flags that change how an entry is read: encrypted, sizes after the data, names in UTF-8. */
const MEANINGFUL_FLAGS = 0x2849;
const DESCRIPTOR_FLAG = 8;

async function readLocal(archive: FileHandle, entry: ZipEntry, name: string): Promise<Local> {
  const differs = (what: string) =>
    inconsistent(name, `${shown(entry)} has another ${what} in its local header`);
  const fixed = await readAt(archive, entry.offset, LOCAL.length);
  if (fixed?.readUInt32LE(0) !== LOCAL.signature) {
    throw inconsistent(name, `${shown(entry)} is not at the offset that the directory names`);
  }
  const [nameLength, extraLength] = [fixed.readUInt16LE(26), fixed.readUInt16LE(28)];
  const variable = await readAt(archive, entry.offset + LOCAL.length, nameLength + extraLength);
  if (variable?.toString('utf8', 0, nameLength) !== entry.name) throw differs('name');
  const extra = variable.subarray(nameLength);
  checkOtherName(entry.name, extra, name);
  const flags = fixed.readUInt16LE(6);
  if (((flags ^ entry.flags) & MEANINGFUL_FLAGS) !== 0) throw differs('flag');
  if (fixed.readUInt16LE(8) !== entry.method) throw differs('method');
  const hasDescriptor = (flags & DESCRIPTOR_FLAG) !== 0;
  const fits = (said: number, isTrue: number) => said === isTrue || (hasDescriptor && said === 0);
  const { size, compressedSize } = sizesIn(fixed, extra);
  if (!fits(fixed.readUInt32LE(14), entry.crc)) throw differs('checksum');
  if (!fits(compressedSize, entry.compressedSize) || !fits(size, entry.size)) throw differs('size');
  const dataOffset = entry.offset + LOCAL.length + nameLength + extraLength;
  return { hasDescriptor, dataOffset };
}

const ZIP64 = 1;
const IN_EXTRA_FIELD = 0xffff_ffff;

/** Programs that do not know the size in advance reserve space for 64 bits. */
function sizesIn(fixed: Buffer, extra: Buffer) {
  const [compressedSize, size] = [fixed.readUInt32LE(18), fixed.readUInt32LE(22)];
  const wide = extraFields(extra).find(({ id }) => id === ZIP64)?.content;
  if (size !== IN_EXTRA_FIELD || compressedSize !== IN_EXTRA_FIELD || (wide?.length ?? 0) < 16) {
    return { size, compressedSize };
  }
  return {
    size: Number(wide?.readBigUInt64LE(0)),
    compressedSize: Number(wide?.readBigUInt64LE(8)),
  };
}

/** Whether the space between the data of an entry and the next entry contains only data of this entry. */
async function isFilled(
  archive: FileHandle,
  { hasDescriptor }: Local,
  entry: ZipEntry,
  dataEnd: number,
  next: number,
): Promise<boolean> {
  if (!hasDescriptor) return dataEnd === next;
  if (next - dataEnd < 12 || next - dataEnd > 24) return false;
  const between = await readAt(archive, dataEnd, next - dataEnd);
  return descriptorsOf(entry).some((descriptor) => between?.equals(descriptor));
}

/** With and without a signature, with sizes of 32 and of 64 bits. */
function descriptorsOf({ crc, compressedSize, size }: ZipEntry): readonly Buffer[] {
  const short = Buffer.alloc(12);
  short.writeUInt32LE(crc, 0);
  short.writeUInt32LE(compressedSize, 4);
  short.writeUInt32LE(size, 8);
  const long = Buffer.alloc(20);
  long.writeUInt32LE(crc, 0);
  long.writeBigUInt64LE(BigInt(compressedSize), 4);
  long.writeBigUInt64LE(BigInt(size), 12);
  return [short, long].flatMap((plain) => [plain, Buffer.concat([SIGNATURE, plain])]);
}

const SIGNATURE = Buffer.from('PK\x07\x08', 'latin1');

const shown = ({ name }: ZipEntry) => JSON.stringify(name);
