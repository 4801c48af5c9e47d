/**
 * INV-39: Only a process with the user's key can add a line to a chain, and no line of a chain can be
 * changed, removed or moved unnoticed. The end of each chain is remembered outside of every project.
 *
 * The lines of a journal form a chain: each has an authenticator over its own bytes and the
 * authenticator of the line before it. It is half of the SHA-256 of the key, the previous authenticator
 * and the line. The hash cannot be continued, because its other half is not known. One call for each
 * line takes a third of the time of an HMAC.
 */
import { hash, randomBytes } from 'node:crypto';

/** The first line of a journal names its chain. */
export const newChainId = (): string => randomBytes(16).toString('hex');

/** The length of an authenticator: 132 bits in base64, which is faster to encode than hex. */
export const MAC_CHARS = 22;

const KEY_BYTES = 32;

/** The authenticator before the first line. */
export const NO_MAC = '0'.repeat(MAC_CHARS);

/** Computes authenticators with one key. */
export class Authenticator {
  #input: Buffer;

  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) throw new Error('Bug: the key of a chain has another length');
    this.#input = Buffer.alloc(4096);
    this.#input.set(key);
  }

  /** The authenticator of the bytes between two positions, after the line with `previous`. */
  macOf(previous: string, block: Uint8Array, from: number, to: number): string {
    const end = LINE_AT + to - from;
    if (end > this.#input.length) this.#input = grown(this.#input, end);
    this.#input.write(previous, KEY_BYTES, MAC_CHARS, 'latin1');
    this.#input.set(new Uint8Array(block.buffer, block.byteOffset + from, to - from), LINE_AT);
    const covered = new Uint8Array(this.#input.buffer, this.#input.byteOffset, end);
    return hash('sha256', covered, 'base64').slice(0, MAC_CHARS);
  }
}

const LINE_AT = KEY_BYTES + MAC_CHARS;

function grown(input: Buffer, size: number): Buffer {
  const larger = Buffer.alloc(2 * size);
  larger.set(input.subarray(0, KEY_BYTES));
  return larger;
}

/** A chain to which lines are added. */
export class Chain {
  readonly id: string;
  readonly #authenticator: Authenticator;
  #end: string;

  constructor(id: string, authenticator: Authenticator, end = NO_MAC) {
    this.id = id;
    this.#authenticator = authenticator;
    this.#end = end;
  }

  /** The authenticator of the last line. */
  get end(): string {
    return this.#end;
  }

  /** Adds a line and returns its authenticator. */
  add(line: Uint8Array): string {
    this.#end = this.#authenticator.macOf(this.#end, line, 0, line.length);
    return this.#end;
  }
}

/** A chain that cannot be continued or verified, for a run without an owner. */
export function throwawayChain(): Chain {
  return new Chain(newChainId(), new Authenticator(randomBytes(KEY_BYTES)));
}
