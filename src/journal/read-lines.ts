import { isAscii } from 'node:buffer';
import type { DiskFile } from './disk.ts';
import { aloneIn, type LineBytes, MAX_LINE_BYTES } from './journal-format.ts';

export interface Line {
  readonly start: number;
  /** After the newline. */
  readonly end: number;
  /** Undefined if the line is longer than allowed. */
  readonly bytes: LineBytes | undefined;
}

/** Most journals are small, and a long one needs few reads. */
const FIRST_CHUNK_BYTES = 4 * 1024;
const MAX_CHUNK_BYTES = 256 * 1024;
/**
 * The events of these lines are in memory together, and garbage collection takes longer the more there
 * are.
 */
const LINES_AT_ONCE = 100;
const NEWLINE = 10;

/**
 * The complete lines from a position on, without bytes after the last newline. Yields many lines
 * together, because a promise for each line would take longer than the line itself.
 */
export async function* readLines(file: DiskFile, from: number): AsyncGenerator<readonly Line[]> {
  let start = from;
  let earlier = new LineStart();
  let chunkBytes = FIRST_CHUNK_BYTES;
  for (let position = from; ; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    chunkBytes = Math.min(4 * chunkBytes, MAX_CHUNK_BYTES);
    const got = await file.read(chunk, position);
    if (got === 0) return;
    position += got;
    const block = chunk.subarray(0, got);
    const text = isAscii(block) ? block.toString('latin1') : undefined;
    let lines: Line[] = [];
    let begin = 0;
    for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, begin)) {
      const end = start + earlier.length + at - begin + 1;
      const bytes =
        earlier.length === 0
          ? { block, from: begin, to: at, text }
          : earlier.completedBy(block.subarray(begin, at));
      lines.push({ start, end, bytes });
      if (earlier.length > 0) earlier = new LineStart();
      begin = at + 1;
      start = end;
      if (lines.length < LINES_AT_ONCE) continue;
      yield lines;
      lines = [];
    }
    earlier.add(block.subarray(begin));
    // Raymond never writes such a line. A file with a hole can be huge, so the reader does not look for
    // its end.
    if (earlier.length > MAX_LINE_BYTES) {
      yield [...lines, { start, end: start + earlier.length, bytes: undefined }];
      return;
    }
    if (lines.length > 0) yield lines;
  }
}

/** The parts of a line whose end is not read yet. */
class LineStart {
  length = 0;
  #parts: Buffer[] = [];

  add(part: Buffer): void {
    this.length += part.length;
    if (part.length > 0) this.#parts.push(part);
  }

  completedBy(part: Buffer): LineBytes | undefined {
    this.add(part);
    if (this.length > MAX_LINE_BYTES) return undefined;
    return aloneIn(Buffer.concat(this.#parts));
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
