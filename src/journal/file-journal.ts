/**
 * INV-14: An append has happened when its lines are synced. After a failed write the journal accepts
 * no more events.
 *
 * The journal on disk. After a failed write the run in memory is ahead of the disk, and only a
 * resume makes both the same again. A process that has lost the run writes nothing: before each
 * write it checks that its file still exists and that it still holds the lock.
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

/** The lock that whoever writes a journal holds. */
export type Ownership = Pick<Lock, 'confirm' | 'loss' | 'needsConfirming' | 'silent'>;

/** Starts the journal of a new run; the id is taken from its first event on. */
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

/** One that a process left before its first event was complete is no run yet, and makes way. */
async function openNew<R>(disk: Disk, path: string, fold: Fold<R>): Promise<DiskFile> {
  // A run that lost its journal is no free name: its state file is all that is left of it.
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

/** Opens a run's journal to continue it; a torn tail is cut off, and an older version is brought up to date. */
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
    // What was read may have been in memory only, if its writer was killed before its sync.
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
  /** Why nothing more is accepted. */
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

  /** Rejects with RunLost when the file is not in its place any more, or the lock is not ours. */
  async confirm(): Promise<void> {
    this.#identity ??= await this.#file.identity();
    if ((await this.#disk.identity(this.#path)) !== this.#identity) {
      const loss = await this.#owner.loss();
      // A lock that went with the journal says less than the journal.
      throw loss?.owner ? loss : journalGone(this.#path);
    }
    await this.#owner.confirm();
  }

  /** Waits for what was appended. */
  async close(): Promise<void> {
    await this.#committing;
    this.#refusal ??= new Error(`The journal ${this.#path} is closed.`);
    await this.#closeFile();
  }

  /** Gives up after a failure, and takes back what may have reached the disk without being synced. */
  async abandon(cause: unknown): Promise<unknown> {
    const refusal = isSystemError(cause)
      ? unwritableJournal(this.#path, cause, this.#length > 0)
      : cause;
    this.#refusal ??= refusal;
    const ignore = () => {};
    // What another process may own is left alone.
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
    // The machine may have slept in the middle of it. Then nobody may act on it without another look.
    if (this.#owner.needsConfirming()) await this.confirm();
    this.#length += bytes.length;
    for (const append of batch) append.resolve();
    if (snapshot) await this.#pointTo(eventsEnd);
  }

  /**
   * Four times the last one's size, so that snapshots add a quarter to the journal at most, and a
   * reader never has to read more than a few times what the run's state takes.
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
    // A reader manages without: it is slower then, nothing else.
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
