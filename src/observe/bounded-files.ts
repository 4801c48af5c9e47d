/** Files that must not grow without end in a long run. */
import { appendFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

export interface Bounds {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Writes files. Removes the oldest ones when there are too many, or when they are too large
 * together.
 */
export class NewestFiles {
  readonly #bounds: Bounds;
  readonly #kept: { readonly path: string; readonly bytes: number }[] = [];
  #bytes = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  write(path: string, text: string): void {
    writeFileSync(path, text, { mode: 0o600 });
    const bytes = Buffer.byteLength(text);
    this.#kept.push({ path, bytes });
    this.#bytes += bytes;
    while (this.#kept.length > 1 && this.#isTooMuch()) this.#removeOldest();
  }

  #isTooMuch(): boolean {
    return this.#kept.length > this.#bounds.files || this.#bytes > this.#bounds.bytes;
  }

  #removeOldest(): void {
    const oldest = this.#kept.shift();
    if (!oldest) return;
    this.#bytes -= oldest.bytes;
    rmSync(oldest.path, { force: true });
  }
}

/** A log that starts again when it is full. The last full log stays as `{path}.1`. */
export class BoundedLog {
  readonly #path: string;
  readonly #mostBytes: number;
  /** Unknown until the first line. */
  #bytes: number | undefined;

  constructor(path: string, mostBytes: number) {
    this.#path = path;
    this.#mostBytes = mostBytes;
  }

  append(text: string): void {
    let before = this.#bytes ?? statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    const bytes = Buffer.byteLength(text);
    if (before > 0 && before + bytes > this.#mostBytes) {
      renameSync(this.#path, `${this.#path}.1`);
      before = 0;
    }
    appendFileSync(this.#path, text, { mode: 0o600 });
    this.#bytes = before + bytes;
  }
}
