/**
 * Lines of older versions. Each function brings the JSON of an event from its version to the next one,
 * and is never changed afterwards: `test/journals` holds real files of every version.
 */
import { JOURNAL_VERSION } from '../model/event.ts';

/** The JSON of an event as this version writes it. */
export function upcast(json: unknown, version: number): unknown {
  let event = json;
  for (let from = version; from < JOURNAL_VERSION; from++) {
    const step = UPCASTS[from];
    if (isRecord(event) && step) event = step(event);
  }
  return event;
}

type JsonRecord = Readonly<Record<string, unknown>>;

/** By the version that they start from. */
const UPCASTS: Readonly<Record<number, (event: JsonRecord) => JsonRecord>> = {
  1: fromVersion1,
};

/** Version 2 added the sequence number and the checksum, which are not part of the event itself. */
function fromVersion1(event: JsonRecord): JsonRecord {
  return event.type === 'run-started' ? { ...event, version: 2 } : event;
}

function isRecord(json: unknown): json is JsonRecord {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
