/**
 * INV-14: An append has happened when its lines are synced. After a failed write the journal accepts no
 * more events.
 *
 * The journal on disk. After a failed write the run in memory is ahead of the disk, and only a resume
 * makes them agree again. Before each write, the journal checks that its file still exists and that the
 * process still holds the lock, so a process that has lost the run writes nothing.
 */
import { dirname } from 'node:path';
import type { RunEvent } from '../model/event.ts';
import { RunLost } from '../model/run-lost.ts';
import { UserError } from '../model/user-error.ts';
import type { Doubt } from '../ports.ts';
import { type Chain, NO_MAC } from './chain.ts';
import { type Disk, type DiskFile, hasCode, replaceFile, writeAll } from './disk.ts';
import { isSystemError } from './disk-errors.ts';
import {
  beginChain,
  type ChainKey,
  continueChain,
  type Head,
  type OpenChain,
  removeHead,
} from './heads.ts';
import { asUnwritable, besideJournal, runExists, unwritableJournal } from './journal-errors.ts';
import {
  type Draft,
  draftEvents,
  draftSnapshot,
  encodeDrafts,
  MAX_LINE_BYTES,
} from './journal-format.ts';
import type { Lock } from './lock.ts';
import { journalGone } from './lock-errors.ts';
import { beginning } from './read-entries.ts';
import { type Fold, type ReadRun, readRun } from './read-journal.ts';
import { readDigested, rewriteJournal } from './rewrite.ts';

export interface RunCodec<R> extends Fold<R> {
  /** JSON from which `thaw` makes the same run again. */
  freeze(run: R): unknown;
}

/** The lock that the writer of a journal holds. */
export type Ownership = Pick<Lock, 'confirm' | 'loss' | 'needsConfirming' | 'silent'>;

/** Starts the journal of a new run. The id is in use from the first event on. */
export async function createJournal<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  owner: Ownership,
  key: ChainKey,
): Promise<FileJournal<R>> {
  const file = await openNew(disk, path, codec).catch((error) => {
    throw error instanceof UserError ? error : unwritableJournal(path, error, false);
  });
  const chain = await beginChain(disk, key, path);
  const journal = new FileJournal(disk, path, file, codec, owner, { ...NEW, chain });
  try {
    await disk.syncFolder(dirname(path));
  } catch (error) {
    const refusal = await journal.abandon(error);
    await removeHead(disk, key, chain.chain.id, path).catch(() => {});
    throw refusal;
  }
  return journal;
}

const NEW = { place: beginning(), snapshot: undefined };

/** A journal without a complete event is not a run, so it is replaced. */
async function openNew<R>(disk: Disk, path: string, fold: Fold<R>): Promise<DiskFile> {
  // If only the state file of a run remains, its id is still in use.
  if ((await disk.kind(besideJournal(path).stateFile)) !== undefined) throw runExists(path);
  try {
    return await disk.open(path, 'create');
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  const isRun = await readRun(disk, path, fold).then(
    () => true,
    (error) => !(error instanceof UserError && error.code === 'journal-empty'),
  );
  if (isRun) throw runExists(path);
  const file = await disk.open(path, 'change');
  await file.truncate(0);
  return file;
}

type OpenedJournal<R> =
  | { readonly run: R; readonly journal: FileJournal<R> }
  /** It is not the user's own, and was not changed. `digest` is for `adoptJournal`. */
  | { readonly run: R; readonly doubt: Doubt; readonly digest: string };

/**
 * Opens a journal of the user to continue it. Cuts off a torn tail. A silent owner that may wake up keeps
 * only an old file open, which is no longer read.
 */
export async function openJournal<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  owner: Ownership,
  key: ChainKey,
): Promise<OpenedJournal<R>> {
  const read = await readRun(disk, path, codec, { key });
  await owner.confirm();
  if (owner.silent || read.doubt !== undefined) {
    const { run, doubt, digest } = await readDigested(disk, path, codec, key);
    if (doubt !== undefined) return { run, doubt, digest };
    return { run, journal: await adoptJournal(disk, path, codec, owner, key, digest) };
  }
  const { run, chain: id = '', place } = read;
  const { end, seq, mac = NO_MAC } = place;
  let file: DiskFile | undefined;
  try {
    file = await disk.open(path, 'change');
    if ((await file.size()) > end) await file.truncate(end);
    // If the writer was killed before its sync, the lines may exist only in the system's memory.
    await file.sync();
    await disk.syncFolder(dirname(path));
    const chain = await continueChain(disk, key, { id, seq, mac, journal: path });
    const journal = new FileJournal(disk, path, file, codec, owner, { ...read, chain });
    return { run, journal };
  } catch (error) {
    await file?.close().catch(() => {});
    throw asUnwritable(path, error);
  }
}

/**
 * Makes a journal the user's own: a new file of this version with a new chain, so that a process that
 * has the old file open cannot write to it. The old file is kept. Throws a UserError if the events do
 * not match the digest.
 */
export async function adoptJournal<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  owner: Ownership,
  key: ChainKey,
  digest: string,
): Promise<FileJournal<R>> {
  const old = owner.silent ? 'drop' : 'keep';
  const { chain, place, replaced } = await rewriteJournal(disk, path, key, { digest, old });
  if (replaced !== undefined) await removeHead(disk, key, replaced, path).catch(() => {});
  const file = await disk.open(path, 'change').catch(async (error) => {
    await chain.head?.close().catch(() => {});
    throw asUnwritable(path, error);
  });
  return new FileJournal(disk, path, file, codec, owner, { ...NEW, place, chain });
}

interface Append<R> {
  readonly drafts: readonly Draft[];
  readonly lastSeq: number;
  readonly after: R;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const MIN_BYTES_BETWEEN_SNAPSHOTS = 1024 * 1024;

export class FileJournal<R> {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #file: DiskFile;
  readonly #codec: RunCodec<R>;
  readonly #owner: Ownership;
  readonly #chain: Chain;
  readonly #head: Head | undefined;
  /** Why the run will not be recognised as the user's own. */
  readonly problem: UserError | undefined;
  #identity: string | undefined;
  /** How much of the file is synced. */
  #length: number;
  /** The last event that was appended, whether it is synced yet or not. */
  #seq: number;
  #snapshotEnd: number;
  #snapshotBytes: number;
  #waiting: Append<R>[] = [];
  #committing: Promise<void> | undefined;
  /** Why the journal accepts no more events. */
  #refusal: unknown;
  #closed = false;

  constructor(
    disk: Disk,
    path: string,
    file: DiskFile,
    codec: RunCodec<R>,
    owner: Ownership,
    {
      place,
      snapshot,
      chain: { chain, head, problem },
    }: Pick<ReadRun<R>, 'place' | 'snapshot'> & { readonly chain: OpenChain },
  ) {
    this.#disk = disk;
    this.#path = path;
    this.#file = file;
    this.#codec = codec;
    this.#owner = owner;
    this.#chain = chain;
    this.#head = head;
    this.problem = problem;
    this.#length = place.end;
    this.#seq = place.seq;
    this.#snapshotEnd = snapshot?.end ?? 0;
    this.#snapshotBytes = snapshot ? snapshot.end - snapshot.start : 0;
  }

  /** The last event that was appended. */
  get seq(): number {
    return this.#seq;
  }

  /** Appends that arrive while others are being synced share the next sync. */
  async append(events: readonly RunEvent[], after: R): Promise<void> {
    if (this.#refusal) throw this.#refusal;
    const drafts = this.#draft(events);
    this.#seq += events.length;
    const lastSeq = this.#seq;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ drafts, lastSeq, after, resolve, reject });
      this.#committing ??= this.#commitAll();
    });
  }

  /** Rejects with RunLost if the file was removed or replaced, or if the lock is lost. */
  async confirm(): Promise<void> {
    this.#identity ??= await this.#file.identity();
    if ((await this.#disk.identity(this.#path)) !== this.#identity) {
      const loss = await this.#owner.loss();
      // If both the lock and the journal were removed, the error about the journal helps more.
      throw loss?.owner ? loss : journalGone(this.#path);
    }
    await this.#owner.confirm();
  }

  /** Waits for pending appends. */
  async close(): Promise<void> {
    await this.#committing;
    this.#refusal ??= new Error(`The journal ${this.#path} is closed.`);
    await this.#closeFile();
  }

  /** Closes the journal after a failure, and removes bytes that reached the disk without a sync. */
  async abandon(cause: unknown): Promise<unknown> {
    const refusal = isSystemError(cause)
      ? unwritableJournal(this.#path, cause, this.#length > 0)
      : cause;
    this.#refusal ??= refusal;
    const ignore = () => {};
    // Another process may own the file now.
    const isOurs = !(cause instanceof RunLost);
    if (isOurs) await this.#file.truncate(this.#length).catch(ignore);
    if (isOurs) await this.#file.sync().catch(ignore);
    await this.#closeFile().catch(ignore);
    if (isOurs && this.#length === 0) await this.#disk.unlink(this.#path).catch(ignore);
    return refusal;
  }

  #draft(events: readonly RunEvent[]): readonly Draft[] {
    try {
      return draftEvents(events, this.#seq + 1, this.#chain.id);
    } catch (error) {
      this.#refusal = error;
      throw error;
    }
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#commit(batch);
      } catch (error) {
        const refusal = await this.abandon(error);
        for (const append of [...batch, ...this.#waiting]) append.reject(refusal);
        this.#waiting = [];
      }
    }
    this.#committing = undefined;
  }

  async #commit(batch: readonly Append<R>[]): Promise<void> {
    // In file order: a snapshot comes between two batches.
    const drafts = batch.flatMap((append) => append.drafts);
    const events = encodeDrafts(drafts, this.#chain);
    const eventsEnd = this.#length + events.length;
    const snapshot = this.#snapshotIfDue(eventsEnd, batch.at(-1));
    const bytes = snapshot ? Buffer.concat([events, snapshot]) : events;
    await this.confirm();
    await writeAll(this.#file, bytes, this.#length);
    await this.#file.sync();
    // The machine may have slept in the meantime. Then the append counts only if the run is still ours.
    if (this.#owner.needsConfirming()) await this.confirm();
    // An older head proves less, but nothing wrong.
    const [seq, mac] = [batch.at(-1)?.lastSeq ?? this.#seq, this.#chain.end];
    await this.#head?.move({ seq, mac }).catch(() => {});
    this.#length += bytes.length;
    for (const append of batch) append.resolve();
    if (snapshot) await this.#pointTo(eventsEnd);
  }

  /**
   * A snapshot is due when the events after the last one are four times its size. Snapshots therefore
   * add at most a quarter to the journal, and a reader reads at most a few times the size of the state.
   */
  #snapshotIfDue(eventsEnd: number, last: Append<R> | undefined): Buffer | undefined {
    const due = Math.max(MIN_BYTES_BETWEEN_SNAPSHOTS, 4 * this.#snapshotBytes);
    if (last === undefined || eventsEnd - this.#snapshotEnd <= due) return undefined;
    const draft = draftSnapshot(this.#codec.freeze(last.after), last.lastSeq);
    const snapshot = draft && encodeDrafts([draft], this.#chain);
    this.#snapshotBytes = snapshot?.length ?? MAX_LINE_BYTES;
    this.#snapshotEnd = eventsEnd + (snapshot?.length ?? 0);
    return snapshot;
  }

  async #pointTo(snapshot: number): Promise<void> {
    // Without the pointer, a reader is only slower.
    await replaceFile(this.#disk, besideJournal(this.#path).pointer, `${snapshot}\n`).catch(
      () => {},
    );
  }

  async #closeFile(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#head?.close().catch(() => {});
    await this.#file.close();
  }
}
