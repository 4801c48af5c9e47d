import { statSync } from 'node:fs';
import { readPartSync } from '../files/regular-file.ts';
import type { OutputText } from '../model/tag.ts';

const SMALL_BYTES = 1024 * 1024;
const WINDOW_BYTES = 256 * 1024;

/** What a program has written, decoded with replacement characters; memory stays flat when it is huge. */
export function outputText(file: string): OutputText {
  const { size } = statSync(file);
  return size <= SMALL_BYTES
    ? readPartSync(file, 0, size).toString('utf8')
    : new FileText(file, size);
}

/** The end of what a program has written. */
export function tailText(file: string, bytes: number): string {
  const { size } = statSync(file);
  const from = Math.max(0, size - bytes);
  const text = readPartSync(file, from, size - from)
    .toString('utf8')
    .trim();
  return from > 0 ? `...${text}` : text;
}

/**
 * A file seen through a window. Offsets are bytes: searching compares bytes, which is right for the
 * ASCII of tags, and only what is sliced out is decoded.
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
    if (!this.#holds(index)) this.#look(index);
    return this.#window[index - this.#start] ?? Number.NaN;
  }

  indexOf(needle: string, from = 0): number {
    for (let at = Math.max(0, from); at + needle.length <= this.length; ) {
      if (!this.#holds(at) || !this.#holds(at + needle.length - 1)) this.#look(at);
      const found = this.#window.indexOf(needle, at - this.#start, 'latin1');
      if (found >= 0) return this.#start + found;
      if (this.#window.length < needle.length) return -1;
      // A needle may lie across the edge of the window.
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

  #holds(index: number): boolean {
    return index >= this.#start && index < this.#start + this.#window.length;
  }

  #look(at: number): void {
    this.#start = at;
    this.#window = readPartSync(this.#file, at, Math.min(WINDOW_BYTES, this.length - at));
  }
}
