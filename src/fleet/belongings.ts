/** The belongings of a run, which follow it from worker to worker: sessions, files and workflows. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import type { CarriedRoots, CarriedSessions, StepKey } from '../ports.ts';
import type { Database, Queries } from '../postgres/database.ts';
import { ForeignRow, type RowSeals } from '../postgres/seals.ts';
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
      const [found] = await database.query<StoredSession>(
        'select executor, sha256, seal from raymond.sessions where run = $1 and session = $2',
        [run, session],
      );
      if (!found) return undefined;
      const { executor, sha256, seal } = found;
      if (!(await rows.holds('session', [run, session, executor, sha256], seal)))
        throw new ForeignRow(`the stored session ${session} of ${run}`);
      return { executor, sha256, content: () => contentOf(database, run, session) };
    },
    keep(step, { session, executor, sha256, content }) {
      keep(step, async (queries) => {
        await queries.query(
          `insert into raymond.sessions (run, session, agent, step, executor, sha256, content, seal)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (run, session) do update set agent = excluded.agent, step = excluded.step,
             executor = excluded.executor, sha256 = excluded.sha256, content = excluded.content,
             seal = excluded.seal`,
          [
            ...[run, session, step.agent, step.step, executor, sha256, Buffer.from(content)],
            await rows.make('session', [run, session, executor, sha256]),
          ],
        );
      });
    },
  };
}

interface StoredSession {
  readonly executor: string;
  readonly sha256: string;
  readonly seal: string | null;
}

async function contentOf(database: Database, run: string, session: string): Promise<Uint8Array> {
  const [found] = await database.query<{ content: Buffer }>(
    'select content from raymond.sessions where run = $1 and session = $2',
    [run, session],
  );
  if (!found) throw new Error(`The session ${session} of ${run} is no longer stored.`);
  return found.content;
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
      keep(step, async (queries) => {
        await queries.query(
          'update raymond.trees set snapshot = $3, seal = $4 where run = $1 and root = $2',
          [run, root, snapshot, await rows.make('tree', [run, root, snapshot])],
        );
      });
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
  const [tree] = await queries.query<{ snapshot: string; seal: string | null }>(
    'select snapshot, seal from raymond.trees where run = $1 and root = $2 for update',
    [run, root],
  );
  if (!tree) throw new Error(`No files of ${root} are stored for ${run}.`);
  if (!(await rows.holds('tree', [run, root, tree.snapshot], tree.seal)))
    throw new ForeignRow(`the snapshot of the files of ${run}`);
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
  return tree.snapshot;
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
