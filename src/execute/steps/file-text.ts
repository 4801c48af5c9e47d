import type { OwnFile } from '../../files/own-file.ts';
import { readIfSmallSync, readInto, readPartSync, readTailSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import type { OutputText } from '../../model/tag.ts';

const SMALL_BYTES = 1024 * 1024;
const BLOCK_BYTES = 1024 * 1024;
/** Texts of more than 128 KiB are costly: V8 gets memory for each of them from the system. */
const WINDOW_BYTES = 96 * 1024;
const PIECE_BYTES = 16 * 1024;
const LESS_THAN = 0x3c;

/** An output that is not in memory. */
export interface LargeText extends OutputText {
  /** Looks at bytes that the caller has read, and from then on searches only where a tag can begin. */
  look(bytes: Buffer, at: number): void;
}

/** A program's output, decoded with replacement characters. A large file is not loaded into memory. */
export function outputText(file: string | OwnFile): string | LargeText {
  const { size, bytes } = readIfSmallSync(file, SMALL_BYTES);
  return bytes ? bytes.toString('utf8') : new FileText(file, size);
}

/** The end of a program's output. */
export function tailText(file: string | OwnFile, bytes: number): string {
  const { from, tail } = readTailSync(file, bytes);
  const text = tail.toString('utf8').trim();
  return from > 0 ? `...${text}` : text;
}

/** The same; empty if the file cannot be read. */
export function tailIfReadable(file: string | OwnFile, bytes = 4096): string {
  return attempt(() => tailText(file, bytes)) ?? '';
}

/**
 * A file that is read in blocks. Offsets count bytes. A window of a block is a text with one character
 * per byte, which native searches pass quickly. This is correct for tags because they are ASCII.
 * Only slices are decoded.
 */
class FileText implements LargeText {
  readonly length: number;
  readonly #file: string | OwnFile;
  readonly #room: Buffer;
  #block: Buffer;
  #blockStart = 0;
  #window = '';
  #start = 0;
  /** For each piece of the file: 1 if it is known to have no `<`. */
  readonly #hasNoTags: Uint8Array;

  constructor(file: string | OwnFile, length: number) {
    this.#file = file;
    this.#room = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, length));
    this.#block = this.#room.subarray(0, 0);
    this.length = length;
    this.#hasNoTags = new Uint8Array(Math.ceil(length / PIECE_BYTES));
  }

  look(bytes: Buffer, at: number): void {
    const end = at + bytes.length;
    const isPieceEnd = (to: number) => to % PIECE_BYTES === 0 || to === this.length;
    for (let from = Math.ceil(at / PIECE_BYTES) * PIECE_BYTES; from < end; from += PIECE_BYTES) {
      const to = Math.min(from + PIECE_BYTES, end);
      if (isPieceEnd(to) && !bytes.subarray(from - at, to - at).includes(LESS_THAN))
        this.#hasNoTags[from / PIECE_BYTES] = 1;
    }
  }

  charCodeAt(index: number): number {
    if (index < 0 || index >= this.length) return Number.NaN;
    if (!this.#covers(index)) this.#moveWindow(index);
    return this.#window.charCodeAt(index - this.#start);
  }

  indexOf(needle: string, from = 0): number {
    for (let at = Math.max(0, from); at + needle.length <= this.length; ) {
      if (needle.startsWith('<')) {
        const possible = this.#nextPiece(at);
        if (possible > at) {
          at = possible;
          continue;
        }
      }
      if (!this.#covers(at) || !this.#covers(at + needle.length - 1)) this.#moveWindow(at);
      const found = this.#window.indexOf(needle, at - this.#start);
      if (found >= 0) return this.#start + found;
      if (this.#window.length < needle.length) return -1;
      // A needle may cross the edge of the window.
      at = this.#start + this.#window.length - needle.length + 1;
    }
    return -1;
  }

  slice(from: number, to: number): string {
    const start = Math.max(0, from);
    const end = Math.min(to, this.length);
    if (start >= end) return '';
    if (!this.#covers(start) || !this.#covers(end - 1))
      return readPartSync(this.#file, start, end - start).toString('utf8');
    const bytes = this.#window.slice(start - this.#start, end - this.#start);
    return ONLY_ASCII.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
  }

  /** The first place from here on that is not in a piece known to have no tags. */
  #nextPiece(from: number): number {
    let piece = Math.floor(from / PIECE_BYTES);
    if (this.#hasNoTags[piece] !== 1) return from;
    while (this.#hasNoTags[piece] === 1) piece += 1;
    return piece * PIECE_BYTES;
  }

  #covers(index: number): boolean {
    return index >= this.#start && index < this.#start + this.#window.length;
  }

  #moveWindow(at: number): void {
    const end = Math.min(at + WINDOW_BYTES, this.length);
    if (at < this.#blockStart || end > this.#blockStart + this.#block.length) {
      this.#block = readInto(this.#room, this.#file, at, this.length - at);
      this.#blockStart = at;
    }
    this.#start = at;
    this.#window = this.#block.toString('latin1', at - this.#blockStart, end - this.#blockStart);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are characters of ASCII.
const ONLY_ASCII = /^[\x00-\x7f]*$/;
