import { createHash, type Hash } from 'node:crypto';
import { JOURNAL_VERSION, type JournaledEvent } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';
import { type Disk, type DiskFile, replaceWith, thenClose, writeAll, writeBeside } from './disk.ts';
import { exchange } from './exchange.ts';
import { beginChain, type ChainKey, chainIn, headFile, type OpenChain } from './heads.ts';
import { asUnwritable, besideJournal } from './journal-errors.ts';
import { encodeEvents } from './journal-format.ts';
import { beginning, type ReadPosition } from './read-entries.ts';
import { type Fold, openExisting, type ReadRun, readAppends, readRun } from './read-journal.ts';

interface Rewritten {
  readonly chain: OpenChain;
  readonly place: ReadPosition;
  /** The chain of the old file, if it had one. */
  readonly replaced: string | undefined;
}

/**
 * Writes a journal again as a new file of this version, with a new chain, and replaces the old file,
 * which may be kept. Omits snapshots: new ones follow. `digest` is of the events that must be in it.
 */
export async function rewriteJournal(
  disk: Disk,
  path: string,
  key: ChainKey,
  { digest, old }: { readonly digest: string; readonly old: 'keep' | 'drop' },
): Promise<Rewritten> {
  const replaced = await thenClose(await openExisting(disk, path), chainIn);
  return withNewChain(disk, path, key, async (chain) => {
    let place = beginning();
    const fill = async (file: DiskFile) => {
      const copy = new JournalCopy(file, chain);
      for await (const appends of readAppends(disk, path)) await copy.add(appends);
      if (copy.digest() !== digest) throw changedMeanwhile(path);
      place = await copy.finish();
    };
    if (old === 'drop') await replaceWith(disk, path, fill);
    else await exchange(disk, path, await writeBeside(disk, path, fill), `${path}.old`);
    return { chain, place, replaced };
  });
}

/** Begins a chain for a new file that replaces a journal. After an error, nothing of it remains. */
export async function withNewChain<T>(
  disk: Disk,
  path: string,
  key: ChainKey,
  replace: (chain: OpenChain) => Promise<T>,
): Promise<T> {
  const chain = await beginChain(disk, key, path);
  let result: T;
  try {
    result = await replace(chain);
    await chain.head?.sync();
  } catch (error) {
    await chain.head?.close().catch(() => {});
    await disk.unlink(headFile(key, chain.chain.id)).catch(() => {});
    throw asUnwritable(path, error);
  }
  // The pointer is a position in the old file. A wrong pointer only costs time.
  await disk.unlink(besideJournal(path).pointer).catch(() => {});
  return result;
}

/** Writes appends into a new file. */
export class JournalCopy {
  readonly #file: DiskFile;
  readonly #chain: OpenChain;
  readonly #hash = createHash('sha256');
  #position = 0;
  #seq = 0;

  constructor(file: DiskFile, chain: OpenChain) {
    this.#file = file;
    this.#chain = chain;
  }

  async add(appends: readonly (readonly JournaledEvent[])[]): Promise<void> {
    const parts = appends.map((events) => {
      const bytes = encodeEvents(events, this.#seq + 1, this.#chain.chain);
      this.#seq += events.length;
      return bytes;
    });
    for (const event of appends.flat()) digest(this.#hash, event);
    const bytes = Buffer.concat(parts);
    await writeAll(this.#file, bytes, this.#position);
    this.#position += bytes.length;
  }

  /** Remembers the end. */
  async finish(): Promise<ReadPosition> {
    const { chain, head } = this.#chain;
    await head?.move({ seq: this.#seq, mac: chain.end });
    return { end: this.#position, seq: this.#seq, version: JOURNAL_VERSION };
  }

  /** The digest of all events so far, as returned by `readDigested`. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}

/** Reads a run from all of its events, with a digest of them. */
export async function readDigested<R>(
  disk: Disk,
  path: string,
  fold: Fold<R>,
  key: ChainKey,
): Promise<ReadRun<R> & { readonly digest: string }> {
  const hash = createHash('sha256');
  const read = await readRun(disk, path, fold, { key, each: (event) => digest(hash, event) });
  return { ...read, digest: hash.digest('hex') };
}

function digest(hash: Hash, event: JournaledEvent): void {
  hash.update(`${JSON.stringify(event)}\n`);
}

function changedMeanwhile(path: string): UserError {
  return new UserError(
    'journal-changed',
    `The journal ${path} was changed while Raymond took it over. Nothing was taken over.`,
    `Check the run again: raymond show ${besideJournal(path).run}`,
    { file: path },
  );
}
