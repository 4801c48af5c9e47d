/**
 * INV-42: No text that a step wrote reaches a file or a reader of Raymond with a secret of the step in it.
 *
 * Removes secrets from a stream of bytes, in time linear in its length. A part that could be the beginning of a
 * secret is kept back until the next part, or the end, shows what it is.
 */
import { type Form, formsOf } from './forms.ts';

export interface Cleaner {
  /** What can be passed on. */
  push(chunk: Buffer): Buffer;
  /** The rest. */
  end(): Buffer;
}

export function cleaner(secrets: ReadonlyMap<string, string>): Cleaner {
  const searches = formsOf(secrets).map((form) => new Search(form));
  /** Bytes from the position `start` of the stream on, which have not been passed on. */
  let kept: Buffer = Buffer.alloc(0);
  let start = 0;
  /** In `kept`, in no order. */
  let found: Match[] = [];
  const pass = (until: number) => {
    const parts: Buffer[] = [];
    const later: Match[] = [];
    let at = start;
    for (const { from, to, name } of merged(found)) {
      if (to > until) {
        later.push({ from, to, name });
        continue;
      }
      parts.push(kept.subarray(at - start, from - start), Buffer.from(markOf(name)));
      at = to;
    }
    // A match that overlaps with a beginning waits for its end.
    const end = Math.max(at, Math.min(until, ...later.map(({ from }) => from)));
    parts.push(kept.subarray(at - start, end - start));
    kept = kept.subarray(end - start);
    start = end;
    found = later;
    return Buffer.concat(parts);
  };
  return {
    push(chunk) {
      const from = start + kept.length;
      for (const search of searches) found.push(...search.push(chunk, from));
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
      return pass(searches.reduce((least, one) => Math.min(least, one.begun), from + chunk.length));
    },
    end: () => pass(start + kept.length),
  };
}

/** A text as a whole. */
export function cleanText(secrets: ReadonlyMap<string, string>, text: string): string {
  const { push, end } = cleaner(secrets);
  return Buffer.concat([push(Buffer.from(text)), end()]).toString();
}

/** What a reader sees in place of a secret. */
export const markOf = (name: string): string => `[secret ${name}]`;

interface Match {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** Overlapping matches become one, with the name of the longest. */
function merged(found: readonly Match[]): readonly Match[] {
  const all: { from: number; to: number; name: string; longest: number }[] = [];
  for (const { from, to, name } of [...found].sort((a, b) => a.from - b.from || b.to - a.to)) {
    const last = all.at(-1);
    if (!last || from >= last.to) {
      all.push({ from, to, name, longest: to - from });
      continue;
    }
    last.to = Math.max(last.to, to);
    if (to - from > last.longest) Object.assign(last, { name, longest: to - from });
  }
  return all;
}

/** Looks for one form (Knuth, Morris and Pratt). */
class Search {
  readonly #form: Form;
  readonly #pattern: Buffer;
  /** For each length of a beginning: the length of the longest shorter beginning that also ends it. */
  readonly #shorter: Int32Array;
  /** How many bytes of the pattern the stream ends with. */
  #length = 0;
  /** Where these bytes are in the stream, from `#first` on. */
  #positions: number[] = [];
  #first = 0;
  /** The number of bytes of a line break since the last of them. */
  #breaks = 0;
  #isEscape = false;

  constructor(form: Form) {
    this.#form = form;
    this.#pattern = form.bytes;
    this.#shorter = shorterOf(form.bytes);
  }

  /** Where the beginning of a match starts; infinite if there is none. */
  get begun(): number {
    return this.#length === 0 ? Number.POSITIVE_INFINITY : (this.#positions[this.#first] ?? 0);
  }

  push(chunk: Buffer, offset: number): readonly Match[] {
    const matches: Match[] = [];
    const head = this.#pattern[0] ?? 0;
    for (let index = 0; index < chunk.length; index += 1) {
      if (this.#length === 0) {
        index = chunk.indexOf(head, index);
        if (index === -1) break;
      }
      const byte = chunk[index] ?? 0;
      if (this.#length > 0 && this.#form.isWrapped && this.#isBreak(byte)) continue;
      this.#step(byte, offset + index);
      if (this.#length < this.#pattern.length) continue;
      const from = this.#positions[this.#first] ?? 0;
      matches.push({ from, to: offset + index + 1, name: this.#form.name });
      this.#fallBack();
    }
    return matches;
  }

  #step(byte: number, position: number): void {
    this.#breaks = 0;
    this.#isEscape = false;
    while (this.#length > 0 && this.#pattern[this.#length] !== byte) this.#fallBack();
    if (this.#pattern[this.#length] !== byte) return;
    this.#length += 1;
    this.#positions.push(position);
  }

  #fallBack(): void {
    const length = this.#shorter[this.#length] ?? 0;
    this.#first += this.#length - length;
    this.#length = length;
    if (length > 0 && this.#first < SPARE_POSITIONS) return;
    this.#positions = this.#positions.slice(this.#first);
    this.#first = 0;
  }

  /** Line breaks do not count, also as they are in JSON. Many of them do not belong to one text. */
  #isBreak(byte: number): boolean {
    const isEnd = byte === 0x0a || byte === 0x0d || byte === 0x5c;
    const isEscaped = this.#isEscape && (byte === 0x6e || byte === 0x72);
    if (!isEnd && !isEscaped) return false;
    this.#isEscape = byte === 0x5c;
    this.#breaks += 1;
    if (this.#breaks <= MOST_BREAKS) return true;
    this.#length = 0;
    this.#positions = [];
    this.#first = 0;
    return false;
  }
}

const MOST_BREAKS = 8;
const SPARE_POSITIONS = 4096;

function shorterOf(pattern: Buffer): Int32Array {
  const shorter = new Int32Array(pattern.length + 1);
  for (let end = 1, length = 0; end < pattern.length; end += 1) {
    while (length > 0 && pattern[end] !== pattern[length]) length = shorter[length] ?? 0;
    if (pattern[end] === pattern[length]) length += 1;
    shorter[end + 1] = length;
  }
  return shorter;
}
