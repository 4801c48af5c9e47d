/** The belongings of a run, which follow it from worker to worker: sessions, files and workflows. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import type { CarriedRoots, CarriedSessions, StepKey } from '../ports.ts';
import type { Database, Queries } from '../postgres/database.ts';
import type { KeepWithStep, RunPorts } from './ports.ts';

export interface BelongingsParts {
  readonly database: Database;
  readonly run: string;
  readonly keep: KeepWithStep;
}

export function carriedSessions({ database, run, keep }: BelongingsParts): CarriedSessions {
  return {
    async newest(session) {
      const [found] = await database.query<{ executor: string; sha256: string }>(
        'select executor, sha256 from raymond.sessions where run = $1 and session = $2',
        [run, session],
      );
      return found && { ...found, content: () => contentOf(database, run, session) };
    },
    keep(step, { session, executor, sha256, content }) {
      keep(step, async (queries) => {
        await queries.query(
          `insert into raymond.sessions (run, session, agent, step, executor, sha256, content)
           values ($1, $2, $3, $4, $5, $6, $7)
           on conflict (run, session) do update set agent = excluded.agent, step = excluded.step,
             executor = excluded.executor, sha256 = excluded.sha256, content = excluded.content`,
          [run, session, step.agent, step.step, executor, sha256, Buffer.from(content)],
        );
      });
    },
  };
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
export function carriedRoots({ database, run, keep }: BelongingsParts): CarriedRoots {
  return {
    async hold(step, root, signal) {
      for (let tries = 0; ; tries++) {
        const snapshot = await database.repeatable((queries) => tryHold(queries, run, step, root));
        if (snapshot !== undefined) return snapshot;
        await pause(Math.min(50 * 2 ** tries, LONGEST_PAUSE_MS), undefined, { signal });
      }
    },
    keep(step, root, snapshot) {
      keep(step, async (queries) => {
        await queries.query('update raymond.trees set snapshot = $3 where run = $1 and root = $2', [
          run,
          root,
          snapshot,
        ]);
      });
    },
  };
}

const LONGEST_PAUSE_MS = 1_000;

/** Undefined while a step of another worker has the working tree. */
async function tryHold(
  queries: Queries,
  run: string,
  { agent, step }: StepKey,
  root: string,
): Promise<string | undefined> {
  const [tree] = await queries.query<{ snapshot: string }>(
    'select snapshot from raymond.trees where run = $1 and root = $2 for update',
    [run, root],
  );
  if (!tree) throw new Error(`No files of ${root} are stored for ${run}.`);
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

/** The workflows of a run; see `StoredSources` of the library. */
export function storedSources(
  database: Database,
  run: string,
  expected: (ref: string) => WorkflowFiles | undefined,
  folder: string,
) {
  return {
    folder,
    expected,
    async archive(container: string): Promise<Uint8Array | undefined> {
      const [found] = await database.query<{ archive: Buffer }>(
        'select archive from raymond.sources where run = $1 and ref = $2',
        [run, container],
      );
      return found?.archive;
    },
  };
}

/**
 * Stores the files of a workflow with the event that the run has read it. Files that cannot be stored are
 * a problem only for workers that lack them, and those report it.
 */
export async function keepSource(
  queries: Queries,
  run: string,
  ref: string,
  pack: RunPorts['pack'],
): Promise<void> {
  const packed = await pack(ref).catch(() => undefined);
  if (!packed) return;
  await queries.query(
    `insert into raymond.sources (run, ref, archive) values ($1, $2, $3)
     on conflict (run, ref) do update set archive = excluded.archive`,
    [run, packed.container, Buffer.from(packed.archive)],
  );
}
