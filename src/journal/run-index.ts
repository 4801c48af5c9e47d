/**
 * What is known about unchanged runs, as the text of a cache. It can be removed at any time, because a
 * survey recreates it.
 */
import type { RunSummary } from '../model/run-summary.ts';
import { emptyTally } from '../model/tally.ts';
import type { Doubt } from '../ports.ts';

export interface IndexEntry {
  readonly id: string;
  /** The stamps of the files as they were before the run was read. */
  readonly journal: string;
  /** Null if the run has no folder. */
  readonly folder: string | null;
  /** Whether processes left locks in the folder. The stamp does not show whether one lives. */
  readonly hasLock: boolean;
  /** The chain that the journal names, and the stamp of its remembered end. */
  readonly chain?: string;
  readonly head?: string;
  /** Absent if the run is the user's own. */
  readonly doubt?: Doubt;
  readonly run: RunSummary;
}

/** The name of the cache. Another form of entries gets another name. */
export const INDEX = 'index 5';

/** By the id of the run. The seal of the cache excludes other writers than Raymond. */
export function readIndex(text = '[]'): ReadonlyMap<string, IndexEntry> {
  const entries: readonly IndexEntry[] = JSON.parse(text);
  const areKnown = entries.every(({ run }) => isSummary(run));
  return new Map(areKnown ? entries.map((entry) => [entry.id, entry]) : []);
}

/**
 * Whether JSON is a summary as this version writes it: another version may have written other fields. A
 * schema would take most of the time of a list.
 */
export function isSummary(json: unknown): json is RunSummary {
  return hasForm(json, SUMMARY) && hasForm(json.tally, TALLY);
}

type Form<T> = Readonly<Record<keyof T, 'number' | 'string' | 'boolean' | 'object' | 'optional'>>;

const SUMMARY: Form<RunSummary> = {
  seq: 'number',
  workflow: 'string',
  status: 'object',
  startedAt: 'number',
  updatedAt: 'number',
  workedMs: 'number',
  budgetUsd: 'number',
  tally: 'object',
  limits: 'optional',
  steps: 'number',
  iterations: 'number',
  totalCostUsd: 'number',
  isPriced: 'boolean',
  agents: 'number',
  endedAgents: 'number',
  failedEnds: 'number',
  isRehearsal: 'boolean',
  input: 'optional',
  result: 'optional',
  failure: 'optional',
  origin: 'optional',
  cell: 'optional',
  trees: 'optional',
};

const TALLY: Form<Record<string, number>> = Object.fromEntries(
  Object.keys(emptyTally).map((name) => [name, 'number']),
);

function hasForm<T>(value: unknown, form: Form<T>): value is Readonly<Record<keyof T, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const given: Readonly<Record<string, unknown>> = { ...value };
  for (const name in form)
    if (form[name] !== 'optional' && typeof given[name] !== form[name]) return false;
  for (const name in given) if (!Object.hasOwn(form, name)) return false;
  return true;
}
