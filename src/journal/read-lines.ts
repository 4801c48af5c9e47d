import { isAscii } from 'node:buffer';
import type { DiskFile } from './disk.ts';
import { MAX_LINE_BYTES } from './journal-format.ts';

export interface Line {
  readonly start: number;
  /** After the newline. */
  readonly end: number;
  /** Without the newline. Undefined if the line is longer than allowed. */
  readonly bytes: Buffer | undefined;
  /** The same as text, where that was cheap to get: a whole chunk takes less time than its lines. */
  readonly text?: string | undefined;
}

/** Most journals are small, and a long one needs few reads. */
const FIRST_CHUNK_BYTES = 4 * 1024;
const MAX_CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

/**
 * The complete lines from a position on, without bytes after the last newline. Gives all lines of one
 * read together, because a promise for each line would take longer than the line itself.
 */
export async function* readLines(file: DiskFile, from: number): AsyncGenerator<readonly Line[]> {
  let start = from;
  let length = 0;
  let parts: Buffer[] = [];
  const collect = (part: Buffer) => {
    length += part.length;
    if (length > MAX_LINE_BYTES) parts = [];
    else parts.push(part);
  };
  let chunkBytes = FIRST_CHUNK_BYTES;
  for (let position = from; ; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    chunkBytes = Math.min(4 * chunkBytes, MAX_CHUNK_BYTES);
    const got = await file.read(chunk, position);
    if (got === 0) return;
    position += got;
    const filled = chunk.subarray(0, got);
    const text = isAscii(filled) ? filled.toString('latin1') : undefined;
    const lines: Line[] = [];
    let begin = 0;
    for (let at = filled.indexOf(NEWLINE); at >= 0; at = filled.indexOf(NEWLINE, begin)) {
      collect(filled.subarray(begin, at));
      const end = start + length + 1;
      const bytes = length > MAX_LINE_BYTES ? undefined : joined(parts);
      const isInChunk = bytes?.length === at - begin;
      lines.push({ start, end, bytes, text: isInChunk ? text?.slice(begin, at) : undefined });
      begin = at + 1;
      start = end;
      length = 0;
      parts = [];
    }
    collect(filled.subarray(begin));
    // Raymond writes no such line. A file with a hole can be huge, so the reader does not look for its end.
    if (length > MAX_LINE_BYTES) {
      yield [...lines, { start, end: start + length, bytes: undefined }];
      return;
    }
    if (lines.length > 0) yield lines;
  }
}

/** Counts from 1, as editors do. */
export async function lineNumber(file: DiskFile, start: number): Promise<number> {
  let number = 1;
  for await (const lines of readLines(file, 0)) {
    const before = lines.filter((line) => line.start < start).length;
    number += before;
    if (before < lines.length) break;
  }
  return number;
}

function joined(parts: readonly Buffer[]): Buffer {
  const only = parts.length === 1 ? parts[0] : undefined;
  return only ?? Buffer.concat(parts);
}
