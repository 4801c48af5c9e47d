/** Decides whether a journal is the user's own: by its chain and its head, and by nothing else. */
import { messageOf } from '../model/message-of.ts';
import { UserError } from '../model/user-error.ts';
import { type Authenticator, NO_MAC } from './chain.ts';
import { CHECKSUM_BYTES, hasMac, MAC_BYTES, macPosition, writtenMac } from './checksum.ts';
import type { Disk, DiskFile } from './disk.ts';
import { type ChainEnd, type ChainKey, chainIn, knownAuthenticator, readHead } from './heads.ts';
import type { LineBytes } from './journal-format.ts';

/** What is known about a journal before its lines are read. */
export type Claim =
  | { readonly kind: 'chain'; readonly id: string; verifier(previous?: string): Verifier }
  /** It is not the user's own, whatever its lines say. */
  | { readonly kind: 'none'; readonly why: string; readonly id?: string | undefined };

/** The head is read before the lines, because a living process may append to both. */
export async function claimOf(disk: Disk, file: DiskFile, key: ChainKey): Promise<Claim> {
  const id = await chainIn(file);
  const none = (why: string): Claim => ({ kind: 'none', why, id });
  if (id === undefined)
    return none('An older Raymond wrote it, so its lines do not show who started the run.');
  try {
    const authenticator = await knownAuthenticator(key);
    if (!authenticator) return none('You have no key here, so nothing shows that you wrote it.');
    const head = await readHead(disk, key, id);
    if (!head) return none(`${key.heads} does not know it.`);
    return {
      kind: 'chain',
      id,
      verifier: (previous) => new Verifier(authenticator, head, previous),
    };
  } catch (error) {
    const why = messageOf(error);
    if (error instanceof UserError) return none(why);
    return none(`Its end in ${key.heads} cannot be read: ${why}.`);
  }
}

/** Follows the lines of a chain. */
export class Verifier {
  readonly head: ChainEnd;
  readonly #authenticator: Authenticator;
  #previous: string;
  #end: string;
  /** Of a line that may be part of a torn append. */
  #found: number | undefined;
  #fault: number | undefined;
  #hasHead: boolean;

  constructor(authenticator: Authenticator, head: ChainEnd, previous = NO_MAC) {
    this.#authenticator = authenticator;
    this.head = head;
    this.#previous = previous;
    this.#end = previous;
    this.#hasHead = head.seq === 0;
  }

  /** The authenticator of the last line of a whole append. */
  get end(): string {
    return this.#end;
  }

  /** The position of the first line that does not follow from the one before it, in a whole append. */
  get fault(): number | undefined {
    return this.#fault;
  }

  /** Whether the line that was remembered last has been seen. */
  get hasHead(): boolean {
    return this.#hasHead;
  }

  next(line: LineBytes, start: number, seq: number): void {
    if (this.#found !== undefined) return;
    const end = Math.max(line.from, line.to - CHECKSUM_BYTES - MAC_BYTES);
    const mac = this.#authenticator.macOf(this.#previous, line.block, line.from, end);
    if (!ends(line, mac)) {
      this.#found = start;
      return;
    }
    this.#previous = mac;
    if (seq === this.head.seq && mac === this.head.mac) this.#hasHead = true;
  }

  /** The append is whole. */
  accept(): void {
    this.#end = this.#previous;
    this.#fault = this.#found;
  }

  /** The line is damaged, but the next one still shows which authenticator it had. */
  skip(line: LineBytes | undefined): void {
    if (line) this.#previous = writtenMac(line.block, line.from, line.to) ?? this.#previous;
  }
}

/** Whether a line has this authenticator. It need not take constant time, because nobody can measure it. */
function ends({ block, from, to, text }: LineBytes, mac: string): boolean {
  if (text === undefined) return writtenMac(block, from, to) === mac;
  return hasMac(block, from, to) && text.startsWith(mac, macPosition(to));
}

/** The authenticator of the line that ends at a position. */
export async function macBefore(
  file: Pick<DiskFile, 'read'>,
  end: number,
): Promise<string | undefined> {
  const size = MAC_BYTES + CHECKSUM_BYTES;
  if (end <= size) return undefined;
  const tail = Buffer.alloc(size);
  const got = await file.read(tail, end - 1 - size);
  return got === size ? writtenMac(tail, 0, size) : undefined;
}
