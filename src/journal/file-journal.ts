/**
 * INV-14: An append has happened when its lines are synced. After a failed write the journal accepts
 * no more events.
 *
 * The journal on disk. After a failed write the run in memory is ahead of the disk, and only a
 * resume makes both the same again. Before each write, the journal checks that its file still exists
 * and that the process still holds the lock. So a process that has lost the run writes nothing.
 */
import { dirname } from 'node:path';
import { JOURNAL_VERSION, type RunEvent } from '../model/event.ts';
import { RunLost } from '../model/run-lost.ts';
import { UserError } from '../model/user-error.ts';
import { type Disk, type DiskFile, hasCode, replaceFile, writeAll } from './disk.ts';
import { isSystemError } from './disk-errors.ts';
import { asUnwritable, besideJournal, runExists, unwritableJournal } from './journal-errors.ts';
import { encodeEvents, encodeSnapshot, MAX_LINE_BYTES } from './journal-format.ts';
import type { Lock } from './lock.ts';
import { journalGone } from './lock-errors.ts';
import { beginning } from './read-entries.ts';
import { type Fold, type ReadRun, readRun } from './read-journal.ts';
import { rewriteJournal } from './rewrite.ts';

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
): Promise<FileJournal<R>> {
  const file = await openNew(disk, path, codec).catch((error) => {
    throw error instanceof UserError ? error : unwritableJournal(path, error, false);
  });
  const journal = new FileJournal(disk, path, file, codec, owner, NEW);
  try {
    await disk.syncFolder(dirname(path));
  } catch (error) {
    throw await journal.abandon(error);
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

/** Opens a run's journal to continue it. Cuts off a torn tail, and upgrades an older version. */
export async function openJournal<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  owner: Ownership,
): Promise<{ readonly run: R; readonly journal: FileJournal<R> }> {
  const read = await readCurrent(disk, path, codec, owner);
  const { end } = read.place;
  let file: DiskFile | undefined;
  try {
    file = await disk.open(path, 'change');
    if ((await file.size()) > end) await file.truncate(end);
    // If the writer was killed before its sync, the lines may exist only in the system's memory.
    await file.sync();
    await disk.syncFolder(dirname(path));
  } catch (error) {
    await file?.close().catch(() => {});
    throw asUnwritable(path, error);
  }
  return { run: read.run, journal: new FileJournal(disk, path, file, codec, owner, read) };
}

async function readCurrent<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  owner: Ownership,
): Promise<ReadRun<R>> {
  const read = await readRun(disk, path, codec);
  const isOld = read.place.version < JOURNAL_VERSION;
  await owner.confirm();
  if (!isOld && !owner.silent) return read;
  await rewriteJournal(disk, path, isOld ? 'keep' : 'drop');
  return readRun(disk, path, codec);
}

interface Append<R> {
  readonly bytes: Buffer;
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
    { place, snapshot }: Pick<ReadRun<R>, 'place' | 'snapshot'>,
  ) {
    this.#disk = disk;
    this.#path = path;
    this.#file = file;
    this.#codec = codec;
    this.#owner = owner;
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
    const bytes = this.#encode(events);
    this.#seq += events.length;
    const lastSeq = this.#seq;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, lastSeq, after, resolve, reject });
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

  #encode(events: readonly RunEvent[]): Buffer {
    try {
      return encodeEvents(events, this.#seq + 1);
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
    const events = Buffer.concat(batch.map((append) => append.bytes));
    const eventsEnd = this.#length + events.length;
    const snapshot = this.#snapshotIfDue(eventsEnd, batch.at(-1));
    const bytes = snapshot ? Buffer.concat([events, snapshot]) : events;
    await this.confirm();
    await writeAll(this.#file, bytes, this.#length);
    await this.#file.sync();
    // The machine may have slept meanwhile. Then the append counts only if the run is still ours.
    if (this.#owner.needsConfirming()) await this.confirm();
    this.#length += bytes.length;
    for (const append of batch) append.resolve();
    if (snapshot) await this.#pointTo(eventsEnd);
  }

  /**
   * A snapshot is due when the events after the last one are four times its size. So snapshots add at
   * most a quarter to the journal, and a reader reads at most a few times the size of the state.
   */
  #snapshotIfDue(eventsEnd: number, last: Append<R> | undefined): Buffer | undefined {
    const due = Math.max(MIN_BYTES_BETWEEN_SNAPSHOTS, 4 * this.#snapshotBytes);
    if (last === undefined || eventsEnd - this.#snapshotEnd <= due) return undefined;
    const snapshot = encodeSnapshot(this.#codec.freeze(last.after), last.lastSeq);
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
    await this.#file.close();
  }
}
