/**
 * The file with what is known of unchanged runs. It can be removed at any time: a survey makes it
 * again. It carries the user's seal, because agents and other users can write into the project.
 */
import * as z from 'zod/mini';
import type { RunSummary } from '../model/run-summary.ts';
import type { Tally } from '../model/tally.ts';
import { type Disk, readText, replaceCache } from './disk.ts';
import { quickCheck } from './quick-check.ts';
import { stateFileSchema } from './state-file.ts';
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
  readonly isOwn: boolean;
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

const PURPOSE = 'index';
const MAX_BYTES = 256 * 1024 * 1024;

const number = z.number();
const tallySchema: z.ZodMiniType<Tally> = z.object({
  ready: number,
  promptsRunning: number,
  scriptsRunning: number,
  waiting: number,
  asking: number,
  joining: number,
  deadlines: number,
  failed: number,
});
const summarySchema: z.ZodMiniType<RunSummary> = z.object({
  status: stateFileSchema.shape.status,
  startedAt: number,
  updatedAt: number,
  tally: tallySchema,
  limitedUntil: z.optional(number),
  iterations: number,
  totalCostUsd: number,
  agents: number,
  endedAgents: number,
  isRehearsal: z.boolean(),
});
const entrySchema: z.ZodMiniType<IndexEntry> = z.object({
  id: z.string(),
  journal: z.string(),
  folder: z.nullable(z.string()),
  hasLock: z.boolean(),
  isOwn: z.boolean(),
  run: summarySchema,
});

/** Another version of Raymond may have written other entries. */
const isIndex = quickCheck(z.array(entrySchema));
