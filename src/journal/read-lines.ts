import type { DiskFile } from './disk.ts';
import { MAX_LINE_BYTES } from './journal-format.ts';

export interface Line {
  readonly start: number;
  /** After the newline. */
  readonly end: number;
  /** Without the newline. Undefined if the line is longer than allowed. */
  readonly bytes: Buffer | undefined;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

/** The complete lines from a position on. Omits bytes after the last newline. */
export async function* readLines(file: DiskFile, from: number): AsyncGenerator<Line> {
  let start = from;
  let length = 0;
  let parts: Buffer[] = [];
  const collect = (part: Buffer) => {
    length += part.length;
    if (length > MAX_LINE_BYTES) parts = [];
    else parts.push(part);
  };
  for (let position = from; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const got = await file.read(chunk, position);
    if (got === 0) return;
    position += got;
    let rest = chunk.subarray(0, got);
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      collect(rest.subarray(0, at));
      const end = start + length + 1;
      yield { start, end, bytes: length > MAX_LINE_BYTES ? undefined : joined(parts) };
      rest = rest.subarray(at + 1);
      start = end;
      length = 0;
      parts = [];
    }
    collect(rest);
    // Raymond writes no such line. A file with a hole can be huge, so the reader does not look for its end.
    if (length > MAX_LINE_BYTES) {
      yield { start, end: start + length, bytes: undefined };
      return;
    }
  }
}

/** Counts from 1, as editors do. */
export async function lineNumber(file: DiskFile, start: number): Promise<number> {
  let number = 1;
  for await (const line of readLines(file, 0)) {
    if (line.start >= start) break;
    number++;
  }
  return number;
}

function joined(parts: readonly Buffer[]): Buffer {
  const only = parts.length === 1 ? parts[0] : undefined;
  return only ?? Buffer.concat(parts);
}
