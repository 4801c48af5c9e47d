/**
 * The file with what is known about unchanged runs. It can be removed at any time, because a survey
 * recreates it. It has the user's seal, because agents and other users can write into the project.
 */
import type { RunSummary } from '../model/run-summary.ts';
import type { Tally } from '../model/tally.ts';
import type { Doubt } from '../ports.ts';
import { type Disk, readText, replaceCache } from './disk.ts';
import type { UserKey } from './user-key.ts';

export interface RunIndex {
  /** By the id of the run. Empty if the file cannot be read or was not written for this user. */
  read(): Promise<ReadonlyMap<string, IndexEntry>>;
  /** Writes nothing for a user without a key. */
  write(entries: readonly IndexEntry[]): Promise<void>;
}

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

export function runIndex(disk: Disk, file: string, key: UserKey): RunIndex {
  return {
    async read() {
      const text = (await readText(disk, file, MAX_BYTES).catch(() => undefined)) ?? '';
      const [seal = '', entries = ''] = text.split('\n');
      const isOurs = await key.isSealed(PURPOSE, entries, seal).catch(() => false);
      const json: unknown = isOurs ? JSON.parse(entries) : [];
      return new Map(isIndex(json) ? json.map((entry) => [entry.id, entry]) : []);
    },
    async write(entries) {
      const text = JSON.stringify(entries);
      const seal = await key.sealIfKnown(PURPOSE, text);
      if (seal !== undefined) await replaceCache(disk, file, `${seal}\n${text}\n`);
    },
  };
}

/** Of the form with reserved money. */
const PURPOSE = 'index 3';
const MAX_BYTES = 256 * 1024 * 1024;

type Check = (value: unknown) => boolean;
type Form<T> = Readonly<Record<keyof T, Check>>;

const isNumber: Check = (value) => typeof value === 'number';
const isText: Check = (value) => typeof value === 'string';
const isBoolean: Check = (value) => typeof value === 'boolean';

const TALLY: Form<Tally> = {
  ready: isNumber,
  promptsRunning: isNumber,
  scriptsRunning: isNumber,
  asksPermission: isNumber,
  queued: isNumber,
  reservedUsd: isNumber,
  waiting: isNumber,
  asking: isNumber,
  joining: isNumber,
  deadlines: isNumber,
  failed: isNumber,
};

const SUMMARY: Form<RunSummary> = {
  seq: isNumber,
  workflow: isText,
  status: (value) => isRecord(value) && isText(value.kind),
  startedAt: isNumber,
  updatedAt: isNumber,
  workedMs: isNumber,
  budgetUsd: isNumber,
  tally: (value) => hasForm(value, TALLY),
  limits: (value) => value === undefined || isRecord(value),
  iterations: isNumber,
  totalCostUsd: isNumber,
  isPriced: isBoolean,
  agents: isNumber,
  endedAgents: isNumber,
  isRehearsal: isBoolean,
  trees: (value) => value === undefined || Array.isArray(value),
};

const ENTRY: Form<IndexEntry> = {
  id: isText,
  journal: isText,
  folder: (value) => value === null || isText(value),
  hasLock: isBoolean,
  chain: (value) => value === undefined || isText(value),
  head: (value) => value === undefined || isText(value),
  doubt: (value) => value === undefined || isRecord(value),
  run: (value) => hasForm(value, SUMMARY),
};

/**
 * Another version of Raymond may have written other entries. The seal excludes all other writers, so
 * the names and kinds of the fields are enough. A schema would take most of the time of a list.
 */
function isIndex(json: unknown): json is readonly IndexEntry[] {
  return Array.isArray(json) && json.every((entry) => hasForm(entry, ENTRY));
}

/** Whether JSON is a summary as this version writes it. */
export function isSummary(json: unknown): json is RunSummary {
  return hasForm(json, SUMMARY);
}

function hasForm(value: unknown, form: Readonly<Record<string, Check>>): boolean {
  if (!isRecord(value)) return false;
  for (const name in form) if (form[name]?.(value[name]) !== true) return false;
  for (const name in value) if (!Object.hasOwn(form, name)) return false;
  return true;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
