/**
 * Whether a payload fits the `match` of a trigger: `{ action: [opened, labeled], "issue.labels.*.name": agent }`.
 * Every path must lead to one of its values. A payload is a stranger's: only its own keys count, and each of its
 * values is visited at most once per path.
 */
import type { PayloadMatch } from '../model/trigger.ts';

/** The payload is what `JSON.parse` gives. */
export function matchesPayload(match: PayloadMatch, payload: unknown): boolean {
  return Object.entries(match).every(([path, wanted]) => {
    const keys = path.split('.');
    const values = new Set<unknown>(Array.isArray(wanted) ? wanted : [wanted]);
    return keys.length <= MOST_KEYS && leadsTo(payload, keys, values);
  });
}

/** A longer path matches nothing. */
const MOST_KEYS = 32;

function leadsTo(from: unknown, keys: readonly string[], wanted: ReadonlySet<unknown>): boolean {
  const [key, ...rest] = keys;
  if (key === undefined) return wanted.has(from);
  if (typeof from !== 'object' || from === null) return false;
  if (key === '*') return Object.values(from).some((value) => leadsTo(value, rest, wanted));
  // The length of a list is a key of its own, but no part of JSON.
  const isKey = Object.hasOwn(from, key) && !(Array.isArray(from) && key === 'length');
  return isKey && leadsTo(Reflect.get(from, key), rest, wanted);
}
