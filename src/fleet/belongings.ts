/** The belongings of a run, which follow it from worker to worker: sessions, files and workflows. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import type { CarriedRoots, CarriedSessions, StepKey } from '../ports.ts';
import type { Database, Queries } from '../postgres/database.ts';
import { changeKept, checkHead, keptOf } from '../postgres/head.ts';
import { findRow } from '../postgres/run-row.ts';
import type { RowSeals } from '../postgres/seals.ts';
import { contentOf, keepSession, newestSession } from '../postgres/sessions.ts';
import { archiveOf, keepArchive } from '../postgres/workflow-archives.ts';
import type { KeepWithStep, RunPorts } from './ports.ts';

export interface BelongingsParts {
  readonly database: Database;
  readonly run: string;
  readonly keep: KeepWithStep;
  readonly rows: RowSeals;
}

export function carriedSessions({ database, run, keep, rows }: BelongingsParts): CarriedSessions {
  return {
    async newest(session) {
      const found = await newestSession(database, rows, run, session);
      return found && { ...found, content: () => contentOf(database, run, session) };
    },
    keep: (step, packed) => keep(step, (queries) => keepSession(queries, rows, run, step, packed)),
  };
}

/** A step holds a working tree while its claim exists. */
export function carriedRoots({ database, run, keep, rows }: BelongingsParts): CarriedRoots {
  return {
    async hold(step, root, signal) {
      for (let tries = 0; ; tries++) {
        const snapshot = await database.repeatable((queries) =>
          tryHold(queries, rows, run, step, root),
        );
        if (snapshot !== undefined) return snapshot;
        await pause(Math.min(50 * 2 ** tries, LONGEST_PAUSE_MS), undefined, { signal });
      }
    },
    keep(step, root, snapshot) {
      keep(step, (queries) =>
        changeKept(queries, rows, run, (kept) => ({
          ...kept,
          trees: { ...kept.trees, [root]: snapshot },
        })),
      );
    },
  };
}

const LONGEST_PAUSE_MS = 1_000;

/** Undefined while a step of another worker has the working tree. */
async function tryHold(
  queries: Queries,
  rows: RowSeals,
  run: string,
  { agent, step }: StepKey,
  root: string,
): Promise<string | undefined> {
  await queries.query('select from raymond.trees where run = $1 and root = $2 for update', [
    ...[run, root],
  ]);
  const row = await findRow(queries, run);
  const snapshot = row && keptOf(row).trees[root];
  if (!row || snapshot === undefined) throw new Error(`No files of ${root} are stored for ${run}.`);
  await checkHead(rows, run, row);
  const [others] = await queries.query<{ count: number }>(
    `select count(*)::int as count
       from raymond.holds h join raymond.claims c using (run, agent, step)
      where h.run = $1 and h.root = $2 and c.worker <>
            (select worker from raymond.claims where run = $1 and agent = $3 and step = $4)`,
    [run, root, agent, step],
  );
  if (others && others.count > 0) return undefined;
  await queries.query(
    `insert into raymond.holds (run, agent, step, root) values ($1, $2, $3, $4)
     on conflict (run, agent, step) do update set root = excluded.root`,
    [run, agent, step, root],
  );
  return snapshot;
}

/**
 * The workflows of a run; see `StoredSources` of the library. Whoever executes them gives `rows`, and gets
 * only files with a seal.
 */
export function storedSources(
  database: Database,
  run: string,
  expected: (ref: string) => WorkflowFiles | undefined,
  folder: string,
  rows?: RowSeals,
) {
  return {
    folder,
    expected,
    archive: (container: string) => archiveOf(database, run, container, rows),
  };
}

/**
 * Stores the files of a workflow with the event that the run has read it. Files that cannot be stored are
 * a problem only for workers that lack them, and those report it.
 */
export async function keepSource(
  queries: Queries,
  rows: RowSeals,
  run: string,
  ref: string,
  pack: RunPorts['pack'],
): Promise<void> {
  const packed = await pack(ref).catch(() => undefined);
  if (packed) await keepArchive(queries, rows, run, packed.container, packed.archive);
}
