/**
 * The journal's lines. One event is one line of JSON. The events of one append belong together: all
 * but the last carry `"more":true`, and a reader takes all of them or none. Between appends may stand
 * `{"type":"snapshot","version":1,"state":…}`, from which a reader can go on without what is before.
 */
import { isUtf8 } from 'node:buffer';
import * as z from 'zod/mini';
import { JOURNAL_VERSION, type RunEvent, runEventSchema } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';

/** Longer lines are neither written nor read: a limit for what a damaged file can cost in memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Refuses what could not be read back: better no event than a journal that nobody can open. */
export function encodeEvents(events: readonly RunEvent[]): Buffer {
  const lines = events.map((event, index) => {
    const known = runEventSchema.parse(event);
    return encodeLine(index < events.length - 1 ? { ...known, more: true } : known);
  });
  return Buffer.concat(lines);
}

/** Undefined when the state is too large for a line: snapshots save time, nothing depends on them. */
export function encodeSnapshot(state: unknown): Buffer | undefined {
  try {
    const text = JSON.stringify({ type: 'snapshot', version: JOURNAL_VERSION, state });
    const line = Buffer.from(`${text}\n`);
    return line.length > MAX_LINE_BYTES ? undefined : line;
  } catch (error) {
    // Longer than a string can be.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Recognised by its first bytes, so that a reader who does not need it does not parse it. */
export function isSnapshot(line: Buffer): boolean {
  return line.subarray(0, SNAPSHOT_START.length).equals(SNAPSHOT_START);
}

/** The state in a snapshot of this version; undefined for anything else. */
export function decodeSnapshot(line: Buffer): { readonly state: unknown } | undefined {
  return z.safeParse(snapshotSchema, parseJson(line)).data;
}

export type DecodedLine =
  | { readonly kind: 'event'; readonly event: RunEvent; readonly more: boolean }
  | { readonly kind: 'not-json' }
  | { readonly kind: 'other-version'; readonly version: number }
  | { readonly kind: 'unknown'; readonly reason: string };

export function decodeEvent(line: Buffer): DecodedLine {
  const json = parseJson(line);
  if (json === undefined) return { kind: 'not-json' };
  const event = z.safeParse(runEventSchema, json);
  if (event.success) {
    const more = typeof json === 'object' && json !== null && 'more' in json;
    return { kind: 'event', event: event.data, more };
  }
  const version = z.safeParse(versionedSchema, json).data?.version;
  if (version !== undefined && version !== JOURNAL_VERSION) {
    return { kind: 'other-version', version };
  }
  const issue = event.error.issues[0];
  const place = issue?.path.join('.');
  return {
    kind: 'unknown',
    reason: place ? `it is no event that I know: ${place} is wrong` : 'it is no event that I know',
  };
}

const SNAPSHOT_START = Buffer.from('{"type":"snapshot"');
const snapshotSchema = z.object({
  type: z.literal('snapshot'),
  version: z.literal(JOURNAL_VERSION),
  state: z.unknown(),
});
const versionedSchema = z.object({ type: z.literal('run-started'), version: z.number() });

function encodeLine(value: unknown): Buffer {
  const line = Buffer.from(`${JSON.stringify(value)}\n`);
  if (line.length > MAX_LINE_BYTES) {
    throw new UserError(
      'event-too-large',
      `An event of ${Math.ceil(line.length / 1024 / 1024)} MiB is too large for the journal.`,
      'Have the state put what is large into a file, and pass on the name of the file.',
    );
  }
  return line;
}

function parseJson(line: Buffer): unknown {
  if (!isUtf8(line)) return undefined;
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
