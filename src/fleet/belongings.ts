/** The belongings of a run, which follow it from worker to worker: sessions, files and workflows. */
import type { WorkflowFiles } from '../model/workflow-files.ts';
import type { CarriedRoots, CarriedSessions, HeldRoot, HolderOfRoot, StepKey } from '../ports.ts';
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
    hold: (step, root) => database.repeatable((queries) => tryHold(queries, rows, run, step, root)),
    keep(step, root, newest) {
      keep(step, (queries) =>
        changeKept(queries, rows, run, (kept) => ({
          ...kept,
          trees: { ...kept.trees, [root]: newest() },
        })),
      );
    },
  };
}

/** Undefined while a step of another worker has the working tree. */
async function tryHold(
  queries: Queries,
  rows: RowSeals,
  run: string,
  { agent, step }: StepKey,
  root: string,
): Promise<HeldRoot | undefined> {
  await queries.query('select from raymond.trees where run = $1 and root = $2 for update', [
    ...[run, root],
  ]);
  const row = await findRow(queries, run);
  const snapshot = row && keptOf(row).trees[root];
  if (!row || snapshot === undefined) throw new Error(`No files of ${root} are stored for ${run}.`);
  await checkHead(rows, run, row);
  // A step that no worker has at the moment does not hold the tree.
  const holders = await queries.query<HolderOfRoot & { readonly isOurs: boolean | null }>(
    `select c.agent, c.step, c.worker = me.worker as "isOurs",
            coalesce(c.place = me.place, false) as "hasBegunHere"
       from raymond.holds h join raymond.claims c using (run, agent, step)
       left join raymond.claims me on me.run = $1 and me.agent = $3 and me.step = $4
      where h.run = $1 and h.root = $2`,
    [run, root, agent, step],
  );
  if (holders.some(({ isOurs }) => isOurs === false)) return undefined;
  await queries.query(
    `insert into raymond.holds (run, agent, step, root) values ($1, $2, $3, $4)
     on conflict (run, agent, step) do update set root = excluded.root`,
    [run, agent, step, root],
  );
  return { snapshot, holders: holders.filter(({ isOurs }) => isOurs) };
}

/**
 * The workflows of a run; see `StoredSources` of the library. A caller that executes them gives `rows`, and
 * gets only files with a seal.
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
