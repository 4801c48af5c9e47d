/**
 * INV-16: Damage is an error that names its line. A reader takes an append as a whole or not at all.
 *
 * Reads a journal's lines as appends, and checks each line against the one before it. A crash may
 * have torn the last append, so an incomplete one does not count.
 */
import { JOURNAL_VERSION, type JournaledEvent } from '../model/event.ts';
import { unreachable } from '../model/unreachable.ts';
import type { DiskFile } from './disk.ts';
import { newerJournal, unknownEvent } from './journal-errors.ts';
import {
  type DecodedEvent,
  type DecodedLine,
  decodeLine,
  decodeVersion,
} from './journal-format.ts';
import { type Line, lineNumber, readLines } from './read-lines.ts';
import type { Verifier } from './verify.ts';

/** The position of a reader. It moves past each entry before the entry is yielded. */
export interface ReadPosition {
  /** The end of the last complete append or snapshot. */
  end: number;
  /** The last event. */
  seq: number;
  /** The version of the file; 0 until its first line has been read. */
  version: number;
  /** The file to which this position belongs; a rewritten journal is another file. */
  file?: string;
  /** The authenticator of the last line, if a verifier follows. */
  mac?: string;
}

export const beginning = (): ReadPosition => ({ end: 0, seq: 0, version: 0 });

export type JournalEntry =
  | {
      readonly kind: 'append';
      readonly start: number;
      readonly end: number;
      readonly events: readonly JournaledEvent[];
    }
  | { readonly kind: 'snapshot'; readonly start: number; readonly end: number }
  /** The place does not move, because a later entry has to continue from there. */
  | { readonly kind: 'damage'; readonly start: number; readonly reason: string };

/**
 * Yields the entries in batches. The place is after all entries of a batch when the batch is yielded. A
 * reader that continues after damage gets only the appends that continue the numbering.
 */
export async function* readEntries(
  file: DiskFile,
  path: string,
  place: ReadPosition,
  verifier?: Verifier,
): AsyncGenerator<readonly JournalEntry[]> {
  let append: JournaledEvent[] = [];
  let start = place.end;
  for await (const lines of readLines(file, place.end)) {
    const entries: JournalEntry[] = [];
    for (const line of lines) {
      if (append.length === 0) start = line.start;
      const decoded = decode(path, line, place);
      if (decoded.kind === 'unknown') {
        yield entries;
        throw unknownEvent(path, await lineNumber(file, line.start));
      }
      const fault = faultOf(decoded, place.seq, append.length);
      if (fault !== undefined) {
        const isTorn = await isTornEnd(file, line, decoded);
        if (!isTorn) entries.push({ kind: 'damage', start: line.start, reason: fault });
        verifier?.skip(line.bytes);
        append = [];
        // Without numbers, a reader cannot know whether the next lines belong here.
        if (!isTorn && place.version > 1) continue;
        yield entries;
        return;
      }
      if (decoded.kind === 'event')
        append.push(numbered(decoded.event, place.seq + append.length + 1));
      if (line.bytes) verifier?.next(line.bytes, line.start, place.seq + append.length);
      if (decoded.kind === 'event' && decoded.more) continue;
      place.end = line.end;
      place.seq += append.length;
      verifier?.accept();
      if (verifier) place.mac = verifier.end;
      if (append.length === 0) entries.push({ kind: 'snapshot', start, end: line.end });
      else entries.push({ kind: 'append', start, end: line.end, events: append });
      append = [];
    }
    yield entries;
  }
}

function decode(path: string, { bytes }: Line, place: ReadPosition): DecodedLine {
  if (!bytes) return { kind: 'damaged', reason: 'it is too long', mayBeTorn: true };
  if (place.version === 0) {
    const first = decodeVersion(bytes);
    if (first.kind === 'damaged') return first;
    if (first.version > JOURNAL_VERSION) throw newerJournal(path, first.version);
    place.version = first.version;
  }
  return decodeLine(bytes, place.version);
}

/**
 * A power cut can leave a newline after a hole. At the end of the file, that also counts as a torn
 * line.
 */
async function isTornEnd(file: DiskFile, { end }: Line, decoded: DecodedLine): Promise<boolean> {
  return decoded.kind === 'damaged' && decoded.mayBeTorn && end >= (await file.size());
}

function numbered(event: DecodedEvent, seq: number): JournaledEvent {
  return hasNumber(event) ? event : { seq, ...event };
}

const hasNumber = (event: DecodedEvent): event is JournaledEvent => event.seq !== undefined;

/** Why a line cannot follow what was read before it. */
function faultOf(
  decoded: Exclude<DecodedLine, { kind: 'unknown' }>,
  lastSeq: number,
  eventsInAppend: number,
): string | undefined {
  const expected = lastSeq + eventsInAppend + 1;
  switch (decoded.kind) {
    case 'damaged':
      return decoded.reason;
    case 'snapshot':
      if (eventsInAppend > 0) return 'it is a snapshot in the middle of an append';
      if (expected === 1) return 'a journal begins with run-started';
      if ((decoded.seq ?? lastSeq) === lastSeq) return undefined;
      return `it is a snapshot after event ${decoded.seq}, but the event before it is ${lastSeq}`;
    case 'event':
      if ((decoded.event.type === 'run-started') !== (expected === 1))
        return expected === 1 ? 'a journal begins with run-started' : 'run-started comes again';
      return orderFault(decoded.event.seq ?? expected, expected);
    default:
      return unreachable(decoded);
  }
}

function orderFault(seq: number, expected: number): string | undefined {
  if (seq === expected) return undefined;
  return seq < expected
    ? `it is event ${seq} again, where event ${expected} should be`
    : `it is event ${seq}, but event ${expected} is missing before it`;
}
