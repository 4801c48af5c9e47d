/** The limits that a prompt and a script can have. */
import { NOTES_ACCESS } from '../model/notes.ts';
import type { Rights } from '../model/rights.ts';
import type { Limits, State } from '../model/workflow.ts';
import { readRights } from './rights.ts';
import { FROM_ONE, IDLE_SECONDS } from './yaml-numbers.ts';
import type { Field, YamlReader } from './yaml-reader.ts';

export const LIMITS = {
  timeout: readTimeout,
  max_visits: readMaxVisits,
  rights: readOwnRights,
  notes: readNotes,
} satisfies Readonly<Record<string, ReadLimit>>;

export type LimitKey = keyof typeof LIMITS;

export const LIMIT_KEYS: readonly string[] = Object.keys(LIMITS);

/** Reads the limits among these fields. The caller handles other keys. */
export function readLimits(reader: YamlReader, fields: readonly Field[]): Limits {
  let limits: Limits = {};
  for (const field of fields) limits = { ...limits, ...BY_KEY.get(field.key)?.(reader, field) };
  return limits;
}

export function limitsOf(state: State | undefined): Limits {
  switch (state?.kind) {
    case 'prompt': {
      const { idleTimeoutMs, maxVisits, rights, notes } = state.policy;
      return {
        ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
        ...(maxVisits !== undefined && { maxVisits }),
        ...(rights && { rights }),
        ...(notes && { notes }),
      };
    }
    case 'script':
      return state.limits;
    case 'broken':
    case undefined:
      return {};
  }
}

type ReadLimit = (reader: YamlReader, field: Field) => Limits;

const BY_KEY: ReadonlyMap<string, ReadLimit> = new Map(Object.entries(LIMITS));

function readTimeout(reader: YamlReader, field: Field): Limits {
  const seconds = reader.number(field, 'timeout', IDLE_SECONDS);
  return seconds === undefined ? {} : { idleTimeoutMs: Math.round(seconds * 1000) };
}

function readMaxVisits(reader: YamlReader, field: Field): Limits {
  const maxVisits = reader.number(field, 'max_visits', FROM_ONE);
  return maxVisits === undefined ? {} : { maxVisits };
}

/** `notes: read` or `notes: write`. */
function readNotes(reader: YamlReader, field: Field): Limits {
  const written = reader.text(field, 'notes', 'read or write');
  if (written === undefined) return {};
  const notes = NOTES_ACCESS.find((access) => access === written);
  if (!notes) reader.mismatch(field, 'notes', 'read or write');
  return notes ? { notes } : {};
}

export function readOwnRights(reader: YamlReader, field: Field): { readonly rights?: Rights } {
  const rights = readRights(reader, field);
  return rights ? { rights } : {};
}
