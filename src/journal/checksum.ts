/** The checksum at the end of every line of a journal: the CRC-32 of all bytes before it. */
import { crc32 } from 'node:zlib';

/** Of every line, in bytes. */
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
  // A Buffer of the same bytes takes longer to make.
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
/** By the code of the character. */
const HEX_DIGITS: readonly (number | undefined)[] = Array.from({ length: 256 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code));
  return digit < 0 ? undefined : digit;
});
