/**
 * The journal's lines: `{"seq":7,"type":"agent-woke",…,"mac":"…","crc":"5d1f0c9a"}`. One event is one
 * line of JSON.
 *
 * - `seq` counts the events from 1. It shows a missing, doubled or moved line.
 * - `crc` comes last. It is the CRC-32 of all bytes before it, and shows a changed line.
 * - `mac` is the authenticator of the line (`chain.ts`). The first line also names the chain.
 * - The events of one append belong together: all but the last have `"more":true`, and a reader takes
 *   all of them or none.
 * - Between appends may be a snapshot, from which a reader can continue without the lines before it.
 *   It has the `seq` of the last event before it.
 *
 * All lines of a file have the version that the first one names.
 */
import { isUtf8 } from 'node:buffer';
import * as z from 'zod/mini';
import { JOURNAL_VERSION, type RunEvent, runEventSchema } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';
import type { Chain } from './chain.ts';
import {
  CHECKSUM_BYTES,
  checksumFault,
  hasMac,
  MAC_BYTES,
  WRONG_CHECKSUM,
  withEnd,
} from './checksum.ts';
import { quickCheck } from './quick-check.ts';
import { upcast } from './upcast.ts';

/** Longer lines are neither written nor read. This limits the memory that a damaged file can take. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const MAX_DRAFT_BYTES = MAX_LINE_BYTES - MAC_BYTES - CHECKSUM_BYTES - 1;

/** The bytes of a line before its authenticator, which depends on the lines before it. */
export type Draft = Buffer;

/** Refuses events that could not be read back, because a journal that cannot be opened is worse. */
export function draftEvents(
  events: readonly RunEvent[],
  firstSeq: number,
  chain: string,
): readonly Draft[] {
  return events.map((event, index) => {
    const seq = firstSeq + index;
    const more = index < events.length - 1 && { more: true };
    const checked = isKnownEvent(event) ? event : runEventSchema.parse(event);
    const draft = draftOf({ seq, ...(seq === 1 && { chain }), ...checked, ...more });
    if (draft.length > MAX_DRAFT_BYTES) throw tooLarge(draft.length);
    return draft;
  });
}

/** The lines of drafts, as the next ones of a chain. */
export function encodeDrafts(drafts: readonly Draft[], chain: Chain): Buffer {
  return Buffer.concat(drafts.map((draft) => withEnd(draft, chain.add(draft))));
}

export function encodeEvents(events: readonly RunEvent[], firstSeq: number, chain: Chain): Buffer {
  return encodeDrafts(draftEvents(events, firstSeq, chain.id), chain);
}

/** An event without a line around it, for stores that keep its number beside it. */
export function encodeEvent(event: RunEvent): string {
  const text = JSON.stringify(isKnownEvent(event) ? event : runEventSchema.parse(event));
  if (Buffer.byteLength(text) > MAX_LINE_BYTES) throw tooLarge(Buffer.byteLength(text));
  return text;
}

/** Undefined if the text is not an event that this Raymond knows. */
export function decodeEvent(text: string, version: number): RunEvent | undefined {
  const json = parseJson(text);
  if (version === JOURNAL_VERSION && isKnownEvent(json)) return json;
  return z.safeParse(runEventSchema, upcast(json, version)).data;
}

/** Undefined if the state is too large for a line. Snapshots only save time. */
export function draftSnapshot(state: unknown, seq: number): Draft | undefined {
  try {
    const draft = draftOf({ seq, type: 'snapshot', version: JOURNAL_VERSION, state });
    return draft.length > MAX_DRAFT_BYTES ? undefined : draft;
  } catch (error) {
    // The text is longer than a string can be.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export type DecodedLine =
  | {
      readonly kind: 'event';
      readonly event: DecodedEvent;
      readonly more: boolean;
    }
  | { readonly kind: 'snapshot'; readonly seq: number | undefined }
  | DamagedLine
  /** The line is not damaged, but this Raymond does not know such an event. */
  | { readonly kind: 'unknown' };

/** Version 1 had no numbers. */
export type DecodedEvent = RunEvent & { readonly seq?: number };

interface DamagedLine {
  readonly kind: 'damaged';
  readonly reason: string;
  /** The line may come from an interrupted write, if nothing follows it. */
  readonly mayBeTorn: boolean;
}

/** A line without its newline, as part of a block that may contain other lines. */
export interface LineBytes {
  readonly block: Buffer;
  readonly from: number;
  readonly to: number;
  /** The block as text, if it is ASCII: converting a whole block is faster than converting each line. */
  readonly text: string | undefined;
}

/** A line that is a whole block. */
export function aloneIn(block: Buffer): LineBytes {
  return { block, from: 0, to: block.length, text: undefined };
}

/** Decodes a line of a file of the given version, without the state of a snapshot: most readers do not need it. */
export function decodeLine(line: LineBytes, version: number): DecodedLine {
  const hasChecksum = version > 1;
  const fault = hasChecksum ? checksumFault(line.block, line.from, line.to) : undefined;
  if (fault !== undefined) return torn(fault);
  const isChained = version > 2;
  if (isChained && !hasMac(line.block, line.from, line.to)) return torn(NO_MAC);
  const end = line.to - (hasChecksum ? CHECKSUM_BYTES : 0) - (isChained ? MAC_BYTES : 0);
  const text = textOf(line, end);
  if (text === undefined) return torn(NOT_JSON);
  const start = snapshotStart(text);
  if (start) return { kind: 'snapshot', seq: hasChecksum ? Number(start[1]) : undefined };
  const json = parseJson(hasChecksum ? `${text}}` : text);
  if (json === undefined) return torn(NOT_JSON);
  if (version === JOURNAL_VERSION && isEventLine(json)) {
    const { more = false } = json;
    if (json.more) delete json.more;
    if (json.chain !== undefined) delete json.chain;
    return { kind: 'event', event: json, more };
  }
  return decodeCarefully(json, version);
}

/** The schema decides about a line that the quick check does not accept. */
function decodeCarefully(json: unknown, version: number): DecodedLine {
  const event = z.safeParse(runEventSchema, upcast(json, version));
  if (!event.success) {
    if (version > 1) return { kind: 'unknown' };
    const place = event.error.issues[0]?.path.join('.');
    return damaged(`it is not a known event${place ? ` (${place} is wrong)` : ''}`);
  }
  const { seq, more = false } = envelopeSchema.parse(json);
  if (version === 1) return { kind: 'event', event: event.data, more };
  if (seq === undefined) return damaged('it has no sequence number');
  return { kind: 'event', event: { seq, ...event.data }, more };
}

type DecodedVersion = { readonly kind: 'version'; readonly version: number } | DamagedLine;

/** The version that the first line gives. It may be newer than this Raymond. */
export function decodeVersion(first: LineBytes): DecodedVersion {
  const fault = checksumFault(first.block, first.from, first.to);
  // A changed byte can look like a newer version.
  if (fault === WRONG_CHECKSUM) return torn(fault);
  const json = parseJson(textOf(first));
  if (json === undefined) return torn(NOT_JSON);
  const start = z.safeParse(startSchema, json);
  return start.success
    ? { kind: 'version', version: start.data.version }
    : damaged('a journal begins with run-started');
}

/** The state in a snapshot of this version; undefined for anything else. */
export function decodeSnapshot(
  line: LineBytes,
): { readonly seq: number; readonly state: unknown } | undefined {
  if (checksumFault(line.block, line.from, line.to) !== undefined) return undefined;
  return z.safeParse(snapshotSchema, parseJson(textOf(line))).data;
}

const NOT_JSON = 'it is not a line of JSON';
const NO_MAC = 'it has no authenticator';

const seqSchema = z.int().check(z.positive());
const envelopeSchema = z.object({
  seq: z.optional(z.catch(z.optional(seqSchema), undefined)),
  more: z.optional(z.catch(z.boolean(), true)),
});
const startSchema = z.object({
  type: z.literal('run-started'),
  version: z.int().check(z.positive()),
});
const snapshotSchema = z.object({
  seq: seqSchema,
  type: z.literal('snapshot'),
  version: z.literal(JOURNAL_VERSION),
  state: z.unknown(),
});

type EventLine = RunEvent & { readonly seq: number; more?: boolean; chain?: unknown };

/** Made for the first event, because many commands need none. */
let eventCheck: ReturnType<typeof quickCheck<typeof runEventSchema>> | undefined;

function isKnownEvent(json: unknown): json is RunEvent {
  eventCheck ??= quickCheck(runEventSchema, ['seq', 'more', 'chain']);
  return eventCheck(json);
}

/** Almost every line of this version. The careful way through the schema takes several times as long. */
function isEventLine(json: unknown): json is EventLine {
  if (!isKnownEvent(json)) return false;
  const { seq, more }: RunEvent & { readonly seq?: unknown; readonly more?: unknown } = json;
  return Number.isSafeInteger(seq) && Number(seq) > 0 && (more === undefined || more === true);
}

const SNAPSHOT_START = /^\{(?:"seq":(\d+),)?"type":"snapshot"/;
const SNAPSHOT_START_BYTES = 48;

/** Looks only at the start of the line, because a snapshot may be long. */
function snapshotStart(text: string): RegExpExecArray | null {
  // Almost no line is a snapshot, and this check is faster than a failing pattern.
  const type = text.startsWith('{"seq":') ? text.indexOf(',') + 1 : 1;
  if (!text.startsWith('"type":"snapshot"', type)) return null;
  return SNAPSHOT_START.exec(text.slice(0, SNAPSHOT_START_BYTES));
}

function tooLarge(bytes: number): UserError {
  return new UserError(
    'event-too-large',
    `An event of ${Math.ceil(bytes / 1024 / 1024)} MiB is too large for the journal.`,
    'Change the state so that it writes large data to a file and passes the name of the file.',
  );
}

const draftOf = (value: unknown): Draft => Buffer.from(JSON.stringify(value).slice(0, -1));

function damaged(reason: string): DamagedLine {
  return { kind: 'damaged', reason, mayBeTorn: false };
}

function torn(reason: string): DamagedLine {
  return { kind: 'damaged', reason, mayBeTorn: true };
}

/** Undefined if the bytes are not text. */
function textOf({ block, from, to, text }: LineBytes, end = to): string | undefined {
  if (text !== undefined) return text.slice(from, end);
  const bytes = block.subarray(from, end);
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function parseJson(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
