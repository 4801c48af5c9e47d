/**
 * The ends of the chains of this user: one small file for each, beside the key. They show that the last
 * lines of a journal are missing, or that an older copy has replaced it.
 *
 * A head is written after its line is synced, and is not synced itself. It survives the death of the
 * process. After a power cut it may be older than its journal, but never newer.
 */
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { UserError } from '../model/user-error.ts';
import { Authenticator, Chain, newChainId, throwawayChain } from './chain.ts';
import {
  type Disk,
  type DiskFile,
  hasCode,
  makeFolder,
  readText,
  type Seen,
  writeAll,
} from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';
import type { UserKey } from './user-key.ts';

/** The part of the user's key that journals need. */
export type ChainKey = Pick<UserKey, 'derived' | 'derivedIfKnown' | 'heads'>;

/** The last line of a chain. */
export interface ChainEnd {
  readonly seq: number;
  readonly mac: string;
}

/** The chain of a journal that a process writes. */
export interface OpenChain {
  readonly chain: Chain;
  /** Undefined if the end cannot be remembered. */
  readonly head: Head | undefined;
  /** Why no one will be able to verify the chain. */
  readonly problem: UserError | undefined;
}

/** Begins a chain. Its head is on disk before its first line. */
export async function beginChain(disk: Disk, key: ChainKey, journal: string): Promise<OpenChain> {
  try {
    const chain = new Chain(newChainId(), new Authenticator(await key.derived(PURPOSE)));
    return { chain, head: await createHead(disk, key, chain, journal), problem: undefined };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { chain: throwawayChain(), head: undefined, problem: error };
  }
}

/** Continues a chain that was verified up to this end. */
export async function continueChain(
  disk: Disk,
  key: ChainKey,
  { id, seq, mac, journal }: ChainEnd & { readonly id: string; readonly journal: string },
): Promise<OpenChain> {
  const chain = new Chain(id, new Authenticator(await key.derived(PURPOSE)), mac);
  const head = new Head(await disk.open(headFile(key, id), 'change'));
  try {
    // The project may have moved.
    await head.locate(journal);
    for (const _slot of [1, 2]) await head.move({ seq, mac });
  } catch (error) {
    await head.close();
    throw error;
  }
  return { chain, head, problem: undefined };
}

/** Undefined without a key. Throws a UserError if the key cannot be used. */
export async function knownAuthenticator(key: ChainKey): Promise<Authenticator | undefined> {
  const derived = await key.derivedIfKnown(PURPOSE);
  return derived && new Authenticator(derived);
}

/** Undefined if the chain is not known here. */
export async function readHead(
  disk: Disk,
  key: ChainKey,
  id: string,
): Promise<ChainEnd | undefined> {
  const text = (await readText(disk, headFile(key, id), MAX_BYTES)) ?? '';
  const [one, two] = [endIn(text, 0), endIn(text, 1)];
  return one && two ? (one.seq > two.seq ? one : two) : (one ?? two);
}

export const headFile = ({ heads }: ChainKey, id: string): string => join(heads, id);

/** Without its head, an unchanged journal is no longer the user's own. */
export async function seenHead(
  disk: Disk,
  key: ChainKey,
  id: string | undefined,
): Promise<Seen | undefined> {
  return id === undefined ? undefined : disk.look(headFile(key, id));
}

/** The head of another copy of the journal stays. */
export async function removeHead(
  disk: Disk,
  key: ChainKey,
  id: string,
  journal: string,
): Promise<void> {
  const file = headFile(key, id);
  const kept = await placeIn(disk, file);
  if (kept !== journal && (await chainAt(disk, kept)) === id) return;
  await disk.unlink(file).catch((error) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}

/** Removes heads whose journals are gone, such as those of deleted projects. */
export async function removeLostHeads(disk: Disk, key: ChainKey, now: number): Promise<void> {
  if ((await disk.kind(key.heads)) !== 'folder') return;
  for (const id of (await disk.list(key.heads)).filter(isChainId)) {
    const file = headFile(key, id);
    const seen = await disk.look(file);
    // A disk may be absent for a while, and a journal that is being replaced has two heads.
    if (!seen || seen.changedAt > now - LOST_AFTER_MS) continue;
    if ((await chainAt(disk, await placeIn(disk, file))) === id) continue;
    await disk.unlink(file).catch(() => {});
  }
}

/** The journals of this user's runs, where they were when they were last opened. They may be gone. */
export async function rememberedJournals(disk: Disk, key: ChainKey): Promise<readonly string[]> {
  if ((await disk.kind(key.heads)) !== 'folder') return [];
  const ids = (await disk.list(key.heads)).filter(isChainId);
  const places = await Promise.all(ids.map((id) => placeIn(disk, headFile(key, id))));
  return places.filter((place) => place !== undefined);
}

const LOST_AFTER_MS = 90 * 24 * 3_600_000;

/** The chain that a journal names in its first line. */
export async function chainIn(file: Pick<DiskFile, 'read'>): Promise<string | undefined> {
  const start = Buffer.alloc(START_BYTES);
  const got = await file.read(start, 0);
  return /^\{"seq":1,"chain":"([0-9a-f]{32})",/.exec(start.toString('latin1', 0, got))?.[1];
}

const START_BYTES = 64;

export async function chainAt(
  disk: Disk,
  journal: string | undefined,
): Promise<string | undefined> {
  const file = journal && (await disk.open(journal, 'read').catch(() => undefined));
  try {
    return file ? await chainIn(file) : undefined;
  } finally {
    if (file) await file.close();
  }
}

/**
 * The file of a head, which stays open while its journal is written. It has two slots, which are written
 * in turn: a write that fails halfway leaves the other one.
 */
export class Head {
  readonly #file: DiskFile;
  #slot = 0;

  constructor(file: DiskFile) {
    this.#file = file;
  }

  async move(end: ChainEnd): Promise<void> {
    const at = this.#slot * SLOT_BYTES;
    this.#slot = 1 - this.#slot;
    await writeAll(this.#file, Buffer.from(slotOf(end)), at);
  }

  async locate(journal: string): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(journal)}\n`);
    await writeAll(this.#file, line, 2 * SLOT_BYTES);
    await this.#file.truncate(2 * SLOT_BYTES + line.length);
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

const PURPOSE = 'journal';
const SLOT_BYTES = 49;

export function slotOf({ seq, mac }: ChainEnd): string {
  const end = `${String(seq).padStart(16)} ${mac}`;
  return `${end} ${crc32(end).toString(16).padStart(8, '0')}\n`;
}

/** Undefined for a slot that was not written as a whole. */
function endIn(text: string, slot: number): ChainEnd | undefined {
  const written = text.slice(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES);
  const [, seq, mac] = /^ *(\d+) ([\w+/]{22}) /.exec(written) ?? [];
  if (mac === undefined) return undefined;
  const end = { seq: Number(seq), mac };
  return slotOf(end) === written ? end : undefined;
}

const MAX_BYTES = 16 * 1024;

const isChainId = (name: string) => /^[0-9a-f]{32}$/.test(name);

/** Where the journal was when it was last opened. */
async function placeIn(disk: Disk, file: string): Promise<string | undefined> {
  try {
    const text = await readText(disk, file, MAX_BYTES);
    const place: unknown = JSON.parse(text?.slice(2 * SLOT_BYTES) ?? '');
    return typeof place === 'string' ? place : undefined;
  } catch {
    return undefined;
  }
}

async function createHead(disk: Disk, key: ChainKey, chain: Chain, journal: string): Promise<Head> {
  const file = headFile(key, chain.id);
  let head: Head | undefined;
  try {
    await makeFolder(disk, key.heads);
    head = new Head(await disk.open(file, 'create'));
    await head.move({ seq: 0, mac: chain.end });
    await head.locate(journal);
    await head.sync();
    await disk.syncFolder(dirname(file));
    return head;
  } catch (error) {
    await head?.close().catch(() => {});
    await disk.unlink(file).catch(() => {});
    throw new UserError(
      'head-unwritable',
      `Raymond cannot remember the end of the journal in ${file}: ${reasonOf(error)}.`,
      `${cureOf(error)}, or set XDG_STATE_HOME to a folder that you own.`,
      { file },
    );
  }
}
