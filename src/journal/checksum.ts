/**
 * The end of every line of a journal: `,"mac":"<22 characters>","crc":"5d1f0c9a"}`. The checksum is the
 * CRC-32 of all bytes before it. It reveals damage even to a reader without the user's key.
 */
import { crc32 } from 'node:zlib';
import { MAC_CHARS } from './chain.ts';

/** The length of the end of every line, in bytes. */
export const CHECKSUM_BYTES = 18;

/** The end of a line: `,"crc":"5d1f0c9a"}`. */
export function checksumOf(covered: Uint8Array): string {
  return `${CHECKSUM_START}${crc32(covered).toString(16).padStart(8, '0')}"}`;
}

export const NO_CHECKSUM = 'it has no checksum';
export const WRONG_CHECKSUM = 'its checksum does not match';

/** The fault of the checksum of the line between two positions. */
export function checksumFault(
  block: Uint8Array,
  from: number,
  to: number,
): typeof NO_CHECKSUM | typeof WRONG_CHECKSUM | undefined {
  const end = to - CHECKSUM_BYTES;
  const written = end < from ? undefined : writtenSum(block, end);
  if (written === undefined) return NO_CHECKSUM;
  // Creating a Buffer of the same bytes takes longer.
  const covered = new Uint8Array(block.buffer, block.byteOffset + from, end - from);
  return written === crc32(covered) ? undefined : WRONG_CHECKSUM;
}

const CHECKSUM_START = ',"crc":"';

/** Byte by byte, because a pattern would take longer than the sum. */
function writtenSum(block: Uint8Array, end: number): number | undefined {
  let position = end;
  for (let i = 0; i < CHECKSUM_START.length; i++)
    if (block[position++] !== CHECKSUM_START.charCodeAt(i)) return undefined;
  let sum = 0;
  for (let i = 0; i < 8; i++) {
    const digit = HEX_DIGITS[block[position++] ?? 0];
    if (digit === undefined) return undefined;
    sum = sum * 16 + digit;
  }
  return block[position] === QUOTE && block[position + 1] === BRACE ? sum : undefined;
}

const QUOTE = 0x22;
const BRACE = 0x7d;
/** Values of hex digits, by character code. */
const HEX_DIGITS: readonly (number | undefined)[] = Array.from({ length: 256 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code));
  return digit < 0 ? undefined : digit;
});

const MAC_START = ',"mac":"';
/** The length of the part of a line with its authenticator. */
export const MAC_BYTES = MAC_START.length + MAC_CHARS + 1;

/** A line with its authenticator, its checksum and its newline. */
export function withEnd(covered: Uint8Array, mac: string): Buffer {
  const line = Buffer.allocUnsafe(covered.length + MAC_BYTES + CHECKSUM_BYTES + 1);
  line.set(covered);
  const end = covered.length + line.write(`${MAC_START}${mac}"`, covered.length, 'latin1');
  line.write(`${checksumOf(line.subarray(0, end))}\n`, end, 'latin1');
  return line;
}

/** Whether a line between two positions has an authenticator, valid or not. */
export function hasMac(block: Uint8Array, from: number, to: number): boolean {
  const start = to - CHECKSUM_BYTES - MAC_BYTES;
  if (start < from || block[start + MAC_BYTES - 1] !== QUOTE) return false;
  for (let i = 0; i < MAC_START.length; i++)
    if (block[start + i] !== MAC_START.charCodeAt(i)) return false;
  return true;
}

/** The authenticator that is written in the line between two positions, if it has one. */
export function writtenMac(block: Buffer, from: number, to: number): string | undefined {
  if (!hasMac(block, from, to)) return undefined;
  const start = macPosition(to);
  return block.toString('latin1', start, start + MAC_CHARS);
}

/** Where the authenticator of a line begins that ends at a position. */
export const macPosition = (to: number): number =>
  to - CHECKSUM_BYTES - MAC_BYTES + MAC_START.length;
