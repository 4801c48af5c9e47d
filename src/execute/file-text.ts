import { statSync } from 'node:fs';
import { readInto, readPartSync } from '../files/regular-file.ts';
import type { OutputText } from '../model/tag.ts';

const SMALL_BYTES = 1024 * 1024;
/** Texts of more than 128 KiB are costly: V8 gets memory for each of them from the system. */
const WINDOW_BYTES = 96 * 1024;

/** A program's output, decoded with replacement characters. A large file is not loaded into memory. */
export function outputText(file: string): OutputText {
  const { size } = statSync(file);
  return size <= SMALL_BYTES
    ? readPartSync(file, 0, size).toString('utf8')
    : new FileText(file, size);
}

/** The end of a program's output. */
export function tailText(file: string, bytes: number): string {
  const { size } = statSync(file);
  const from = Math.max(0, size - bytes);
  const text = readPartSync(file, from, size - from)
    .toString('utf8')
    .trim();
  return from > 0 ? `...${text}` : text;
}

/**
 * A file that is read in windows. Offsets count bytes. A window is a text with one character per byte,
 * which native searches pass quickly. This is correct for tags because they are ASCII. Only slices
 * are decoded.
 */
class FileText implements OutputText {
  readonly length: number;
  readonly #file: string;
  readonly #buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  #window = '';
  #start = 0;

  constructor(file: string, length: number) {
    this.#file = file;
    this.length = length;
  }

  charCodeAt(index: number): number {
    if (index < 0 || index >= this.length) return Number.NaN;
    if (!this.#covers(index)) this.#moveWindow(index);
    return this.#window.charCodeAt(index - this.#start);
  }

  indexOf(needle: string, from = 0): number {
    for (let at = Math.max(0, from); at + needle.length <= this.length; ) {
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

  #covers(index: number): boolean {
    return index >= this.#start && index < this.#start + this.#window.length;
  }

  #moveWindow(at: number): void {
    this.#start = at;
    this.#window = readInto(this.#buffer, this.#file, at, this.length - at).toString('latin1');
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are characters of ASCII.
const ONLY_ASCII = /^[\x00-\x7f]*$/;
