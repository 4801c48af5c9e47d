import { statSync } from 'node:fs';
import { readPartSync } from '../files/regular-file.ts';
import type { OutputText } from '../model/tag.ts';

const SMALL_BYTES = 1024 * 1024;
const WINDOW_BYTES = 256 * 1024;

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
 * A file that is read in windows. Offsets count bytes. Searching compares bytes, which is correct for
 * tags because they are ASCII. Only slices are decoded.
 */
class FileText implements OutputText {
  readonly length: number;
  readonly #file: string;
  #window: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(file: string, length: number) {
    this.#file = file;
    this.length = length;
  }

  charCodeAt(index: number): number {
    if (index < 0 || index >= this.length) return Number.NaN;
    if (!this.#covers(index)) this.#moveWindow(index);
    return this.#window[index - this.#start] ?? Number.NaN;
  }

  indexOf(needle: string, from = 0): number {
    for (let at = Math.max(0, from); at + needle.length <= this.length; ) {
      if (!this.#covers(at) || !this.#covers(at + needle.length - 1)) this.#moveWindow(at);
      const found = this.#window.indexOf(needle, at - this.#start, 'latin1');
      if (found >= 0) return this.#start + found;
      if (this.#window.length < needle.length) return -1;
      // A needle may cross the edge of the window.
      at = this.#start + this.#window.length - needle.length + 1;
    }
    return -1;
  }

  slice(from: number, to: number): string {
    const start = Math.max(0, from);
    return readPartSync(this.#file, start, Math.max(0, Math.min(to, this.length) - start)).toString(
      'utf8',
    );
  }

  #covers(index: number): boolean {
    return index >= this.#start && index < this.#start + this.#window.length;
  }

  #moveWindow(at: number): void {
    this.#start = at;
    this.#window = readPartSync(this.#file, at, Math.min(WINDOW_BYTES, this.length - at));
  }
}
