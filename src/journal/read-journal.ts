/**
 * Reads a journal as a stream. Only one line and the run are in memory, however long the file is.
 * Reading ends at a line that has changed since it was written, with an error that names it.
 */
import * as z from 'zod/mini';
import { parsed } from '../model/attempt.ts';
import { JOURNAL_VERSION, type JournaledEvent, type RunEvent } from '../model/event.ts';
import type { Doubt } from '../ports.ts';
import { type Disk, type DiskFile, hasCode, readText, thenClose } from './disk.ts';
import type { ChainKey } from './heads.ts';
import {
  besideJournal,
  CorruptJournal,
  cutByHead,
  cutByState,
  emptiedJournal,
  emptyJournal,
  missingJournal,
  noRun,
  unreadableJournal,
} from './journal-errors.ts';
import { decodeSnapshot } from './journal-format.ts';
import { oneByOne } from './one-by-one.ts';
import { beginning, type JournalEntry, type ReadPosition, readEntries } from './read-entries.ts';
import { type Line, lineNumber, readLines } from './read-lines.ts';
import { type Claim, claimOf, macBefore, type Verifier } from './verify.ts';

export interface Fold<R> {
  apply(run: R | undefined, event: RunEvent): R;
  /** Makes a run from the state of a snapshot. If it throws, the snapshot is not used. */
  thaw(json: unknown): R;
}

export interface ReadRun<R> {
  readonly run: R;
  /** The chain that it names. */
  readonly chain: string | undefined;
  /** Why it is not the user's own. Undefined if it is. */
  readonly doubt: Doubt | undefined;
  /** Where the last complete append ends; what follows is a torn tail. */
  readonly place: Readonly<ReadPosition>;
  readonly snapshot: SnapshotPlace | undefined;
}

interface SnapshotPlace {
  readonly start: number;
  readonly end: number;
}

interface HowToRead<R> {
  /** Gets all events, so it needs the beginning. */
  readonly each?: ((event: JournaledEvent, before: R | undefined, after: R) => void) | undefined;
  /** Shows whether the journal is the user's own. Without it, no journal is. */
  readonly key?: ChainKey;
}

/**
 * Reads the run from its journal: from the newest known snapshot, else from the beginning. A journal
 * that is not the user's own is read from the beginning, because its snapshots prove nothing.
 */
export async function readRun<R>(
  disk: Disk,
  path: string,
  fold: Fold<R>,
  { each, key }: HowToRead<R> = {},
): Promise<ReadRun<R>> {
  // The state file first: it is never ahead of the journal, even while a process writes both.
  const shown = await shownSeq(disk, path);
  return thenClose(await openExisting(disk, path), async (file) => {
    const claim = key ? await claimOf(disk, file, key) : UNCHECKED;
    const mayBegin = !each && (!key || claim.kind === 'chain');
    const known = mayBegin ? await startingPoint(disk, file, path, fold, claim) : undefined;
    const fromSnapshot = known && (await readFrom(file, path, fold, known, each));
    const isDoubted = fromSnapshot?.verifier && !isVerified(fromSnapshot.verifier);
    const { run, place, snapshot, verifier } =
      fromSnapshot && !isDoubted
        ? fromSnapshot
        : await readFrom(file, path, fold, atBeginning(claim), each);
    if (run === undefined) throw shown === undefined ? emptyJournal(path) : emptiedJournal(path);
    const doubt =
      claim.kind === 'none' ? { why: claim.why } : verifier && (await doubtOf(file, verifier));
    if (verifier && doubt === undefined && !verifier.hasHead)
      throw cutByHead(path, place, verifier.head.seq);
    if (shown !== undefined && place.seq < shown) throw cutByState(path, place, shown);
    return { run, place, snapshot, chain: claim.id, doubt };
  });
}

const UNCHECKED: Claim = { kind: 'none', why: 'It was not checked.' };

const isVerified = ({ fault, hasHead }: Verifier) => fault === undefined && hasHead;

/** Names the first line that does not belong to the chain. */
async function doubtOf(file: DiskFile, { fault }: Verifier): Promise<Doubt | undefined> {
  if (fault === undefined) return undefined;
  const line = await lineNumber(file, fault);
  const why = `Line ${line} of its journal was not written with your key, or not at this place.`;
  return { why, line };
}

async function readFrom<R>(
  file: DiskFile,
  path: string,
  fold: Fold<R>,
  known: StartingPoint<R>,
  each: HowToRead<R>['each'],
): Promise<StartingPoint<R>> {
  const { place, verifier } = known;
  let { run, snapshot } = known;
  const add = (event: JournaledEvent) => {
    const before = run;
    const after = fold.apply(before, event);
    each?.(event, before, after);
    run = after;
  };
  for await (const entries of readWhole(file, path, place, verifier))
    for (const entry of entries)
      if (entry.kind === 'snapshot') snapshot = entry;
      else for (const event of entry.events) add(event);
  return { run, place, snapshot, verifier };
}

/**
 * The events after a number, by default the whole history. To continue reading later, pass a place:
 * reading begins there and moves it past what was read.
 */
export function readEvents(
  disk: Disk,
  path: string,
  part?: Part,
): AsyncIterableIterator<JournaledEvent> {
  return oneByOne(eventBatches(disk, path, part));
}

/** Which events to read. */
interface Part {
  readonly place?: ReadPosition;
  readonly after?: number;
}

/** The same, several at a time. */
export async function* eventBatches(
  disk: Disk,
  path: string,
  { place = beginning(), after = 0 }: Part = {},
): AsyncGenerator<readonly JournaledEvent[]> {
  for await (const appends of readAppends(disk, path, place)) {
    const events = appends.flat();
    yield after === 0 ? events : events.filter(({ seq }) => seq > after);
  }
}

/** The events as they were appended together, several appends at a time. */
export async function* readAppends(
  disk: Disk,
  path: string,
  place: ReadPosition = beginning(),
): AsyncGenerator<readonly (readonly JournaledEvent[])[]> {
  const file = await openExisting(disk, path);
  try {
    const known = await enter(file, place);
    for await (const entries of readWhole(file, path, place))
      yield entries.flatMap((entry) =>
        entry.kind === 'append' && lastSeq(entry.events) > known ? [entry.events] : [],
      );
  } finally {
    await file.close();
  }
}

const lastSeq = (events: readonly JournaledEvent[]) => events.at(-1)?.seq ?? 0;

/** A place in a file that has been rewritten is lost. Returns the last event that was already read. */
async function enter(file: DiskFile, place: ReadPosition): Promise<number> {
  const known = place.seq;
  const identity = await file.identity();
  if (place.file !== undefined && place.file !== identity) Object.assign(place, beginning());
  place.file = identity;
  return known;
}

type GoodEntry = Exclude<JournalEntry, { kind: 'damage' }>;

/** Damage is an error, after the entries before it. */
async function* readWhole(
  file: DiskFile,
  path: string,
  place: ReadPosition,
  verifier?: Verifier,
): AsyncGenerator<readonly GoodEntry[]> {
  for await (const entries of readEntries(file, path, place, verifier)) {
    const good: GoodEntry[] = [];
    for (const entry of entries) {
      if (entry.kind !== 'damage') {
        good.push(entry);
        continue;
      }
      yield good;
      throw new CorruptJournal(path, await lineNumber(file, entry.start), entry.reason, {
        hasGoodPart: place.end > 0,
      });
    }
    yield good;
  }
}

export async function openExisting(disk: Disk, path: string): Promise<DiskFile> {
  try {
    const file = await disk.open(path, 'read');
    const read: DiskFile['read'] = (into, position) =>
      file.read(into, position).catch((error) => Promise.reject(unreadableJournal(path, error)));
    return { ...file, read };
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw unreadableJournal(path, error);
    throw (await disk.kind(besideJournal(path).stateFile)) ? missingJournal(path) : noRun(path);
  }
}

/** Larger state files are ignored. */
const MAX_STATE_BYTES = 256 * 1024 * 1024;
const shownSchema = z.object({ seq: z.int() });

/**
 * The newest event that the state file reflects. The journal alone does not show that its last lines
 * are missing. Undefined without a state file, 0 if the file does not say.
 */
async function shownSeq(disk: Disk, path: string): Promise<number | undefined> {
  const text = await readText(disk, besideJournal(path).stateFile, MAX_STATE_BYTES).catch(() => '');
  if (text === undefined) return undefined;
  return z.safeParse(shownSchema, parsed(text)).data?.seq ?? 0;
}

interface StartingPoint<R> {
  readonly run: R | undefined;
  readonly place: ReadPosition;
  readonly snapshot: SnapshotPlace | undefined;
  /** Absent if the journal claims no chain. */
  readonly verifier: Verifier | undefined;
}

function atBeginning<R>(claim: Claim): StartingPoint<R> {
  const verifier = claim.kind === 'chain' ? claim.verifier() : undefined;
  return { run: undefined, place: beginning(), snapshot: undefined, verifier };
}

/** A number with its newline. */
const POINTER_BYTES = 100;

/**
 * The pointer file is only a hint. It counts only if a snapshot of this version starts at its position.
 * Every such line is valid, so a wrong pointer does no harm. A snapshot of an older version is not
 * used, because all events before it are in the file. Undefined if no snapshot can be used.
 */
async function startingPoint<R>(
  disk: Disk,
  file: DiskFile,
  path: string,
  fold: Fold<R>,
  claim: Claim,
): Promise<StartingPoint<R> | undefined> {
  const hint = await readText(disk, besideJournal(path).pointer, POINTER_BYTES).catch(
    () => undefined,
  );
  const start = Number(hint);
  if (!hint || !Number.isSafeInteger(start) || start < 1) return undefined;
  const line = await lineAt(file, start);
  const decoded = line?.bytes && decodeSnapshot(line.bytes);
  if (!decoded) return undefined;
  const verifier =
    claim.kind === 'chain' ? claim.verifier(await macBefore(file, start)) : undefined;
  verifier?.next(line.bytes, start, decoded.seq);
  verifier?.accept();
  try {
    const place = { end: line.end, seq: decoded.seq, version: JOURNAL_VERSION };
    const mac = verifier && { mac: verifier.end };
    return { run: fold.thaw(decoded.state), place: { ...place, ...mac }, snapshot: line, verifier };
  } catch {
    return undefined;
  }
}

/** Undefined if no line starts at this position. */
async function lineAt(file: DiskFile, start: number): Promise<Line | undefined> {
  // The byte before a line is the end of another one, so it must be read as an empty line.
  for await (const lines of readLines(file, start - 1))
    for (const line of lines)
      if (line.start === start) return line;
      else if (line.end !== start) return undefined;
  return undefined;
}
