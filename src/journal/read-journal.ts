/**
 * Reading a journal, as a stream: what is held in memory is one line and the run, however long the
 * file is. Only complete lines count; an append whose last line is missing does not count at all.
 */
import type { RunEvent } from '../model/event.ts';
import { type Disk, type DiskFile, hasCode, readText, thenClose } from './disk.ts';
import {
  besideJournal,
  CorruptJournal,
  emptyJournal,
  missingJournal,
  noRun,
  otherVersion,
  unreadableJournal,
} from './journal-errors.ts';
import { decodeEvent, decodeSnapshot, isSnapshot, MAX_LINE_BYTES } from './journal-format.ts';

export interface Fold<R> {
  apply(run: R | undefined, event: RunEvent): R;
  /** Makes a run of what a snapshot holds; may throw, then the snapshot is not used. */
  thaw(json: unknown): R;
}

export interface ReadRun<R> {
  readonly run: R;
  /** The end of the last complete append; what follows is a torn tail. */
  readonly end: number;
  readonly snapshot: SnapshotPlace | undefined;
}

export interface SnapshotPlace {
  readonly start: number;
  readonly end: number;
}

/** The run as its journal tells it: from the newest known snapshot on, else from the beginning. */
export async function readRun<R>(disk: Disk, path: string, fold: Fold<R>): Promise<ReadRun<R>> {
  return thenClose(await openExisting(disk, path), async (file) => {
    const known = await startingPoint(disk, file, path, fold);
    let { run, end, snapshot } = known;
    for await (const entry of readEntries(file, path, known.end)) {
      end = entry.end;
      if (entry.kind === 'snapshot') snapshot = entry;
      else for (const event of entry.events) run = fold.apply(run, event);
    }
    if (run === undefined) throw emptyJournal(path);
    return { run, end, snapshot };
  });
}

/**
 * All events from the first one on: the history. Whoever wants to read on later passes a place, which
 * is where to begin and is moved behind what was read.
 */
export async function* readEvents(
  disk: Disk,
  path: string,
  place: { end: number } = { end: 0 },
): AsyncGenerator<RunEvent> {
  const file = await openExisting(disk, path);
  try {
    for await (const entry of readEntries(file, path, place.end)) {
      if (entry.kind === 'events') yield* entry.events;
      place.end = entry.end;
    }
  } finally {
    await file.close();
  }
}

async function openExisting(disk: Disk, path: string): Promise<DiskFile> {
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

interface StartingPoint<R> {
  readonly run: R | undefined;
  readonly end: number;
  readonly snapshot: SnapshotPlace | undefined;
}

/** A number with its newline. */
const POINTER_BYTES = 100;

/**
 * The pointer file is a mere hint: the place counts only if a line starts there that is a snapshot,
 * and every such line is right, wherever the hint came from.
 */
async function startingPoint<R>(
  disk: Disk,
  file: DiskFile,
  path: string,
  fold: Fold<R>,
): Promise<StartingPoint<R>> {
  const beginning = { run: undefined, end: 0, snapshot: undefined };
  const hint = await readText(disk, besideJournal(path).pointer, POINTER_BYTES).catch(
    () => undefined,
  );
  const start = Number(hint);
  if (!hint || !Number.isSafeInteger(start) || start < 1) return beginning;
  for await (const line of readLines(file, start - 1)) {
    // The byte before a line is the end of another one, so this must be an empty line.
    if (line.end === start && line.bytes?.length === 0) continue;
    const decoded = line.start === start && line.bytes && decodeSnapshot(line.bytes);
    if (!decoded) return beginning;
    try {
      return { run: fold.thaw(decoded.state), end: line.end, snapshot: line };
    } catch {
      return beginning;
    }
  }
  return beginning;
}

type Entry =
  | { readonly kind: 'events'; readonly events: readonly RunEvent[]; readonly end: number }
  | { readonly kind: 'snapshot'; readonly start: number; readonly end: number };

async function* readEntries(file: DiskFile, path: string, from: number): AsyncGenerator<Entry> {
  let goodEnd = from;
  let events: RunEvent[] = [];
  const corrupt = async (line: Line, reason: string) =>
    new CorruptJournal(path, await lineNumber(file, line.start), goodEnd, reason);

  for await (const line of readLines(file, from)) {
    if (line.bytes && isSnapshot(line.bytes) && events.length === 0) {
      goodEnd = line.end;
      yield { kind: 'snapshot', start: line.start, end: line.end };
      continue;
    }
    const decoded = line.bytes ? decodeEvent(line.bytes) : ({ kind: 'not-json' } as const);
    if (decoded.kind === 'other-version') throw otherVersion(path, decoded.version);
    if (decoded.kind === 'unknown') throw await corrupt(line, decoded.reason);
    if (decoded.kind === 'not-json') {
      // A power cut can leave a newline behind a hole. At the very end that is a torn line, too.
      if (line.end >= (await file.size())) return;
      throw await corrupt(line, 'it is not a line of JSON');
    }
    if (line.start === 0 && decoded.event.type !== 'run-started') {
      throw await corrupt(line, 'a journal begins with run-started');
    }
    events.push(decoded.event);
    if (decoded.more) continue;
    goodEnd = line.end;
    yield { kind: 'events', events, end: line.end };
    events = [];
  }
}

async function lineNumber(file: DiskFile, start: number): Promise<number> {
  let number = 1;
  for await (const line of readLines(file, 0)) {
    if (line.start >= start) break;
    number++;
  }
  return number;
}

interface Line {
  readonly start: number;
  /** After the newline. */
  readonly end: number;
  /** Without the newline; undefined when longer than a line may be. */
  readonly bytes: Buffer | undefined;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

/** The complete lines from a position on; what follows the last newline is left out. */
async function* readLines(file: DiskFile, from: number): AsyncGenerator<Line> {
  let start = from;
  let length = 0;
  let parts: Buffer[] = [];
  const collect = (part: Buffer) => {
    length += part.length;
    if (length > MAX_LINE_BYTES) parts = [];
    else parts.push(part);
  };
  for (let position = from; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const got = await file.read(chunk, position);
    if (got === 0) return;
    position += got;
    let rest = chunk.subarray(0, got);
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      collect(rest.subarray(0, at));
      const end = start + length + 1;
      yield { start, end, bytes: length > MAX_LINE_BYTES ? undefined : joined(parts) };
      rest = rest.subarray(at + 1);
      start = end;
      length = 0;
      parts = [];
    }
    collect(rest);
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const only = parts.length === 1 ? parts[0] : undefined;
  return only ?? Buffer.concat(parts);
}
