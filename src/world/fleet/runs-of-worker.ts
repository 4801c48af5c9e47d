/**
 * A worker keeps three folders for a run: one for its steps, the clone of its files, and the task folders of
 * its agents. All are removed when the run is no longer in the database. A note says which run of which database they belong to. A worker
 * may serve several databases, and a new run may have the id of a removed one.
 */

import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { foldersWithProcesses, RunProcesses } from '../../execute/process/index.ts';
import { goneRuns, identityOf } from '../../fleet/worker-table.ts';
import { readText, replaceFile } from '../../journal/disk.ts';
import { cureOf, reasonOf } from '../../journal/disk-errors.ts';
import { isRunId } from '../../journal/run-id.ts';
import { attempt } from '../../model/attempt.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import type { Notices } from '../../postgres/notices.ts';
import type { Surroundings } from '../surroundings.ts';

export const cloneOf = ({ project }: Surroundings, run: string) =>
  join(project.folder, 'clones', run);

/** Removes what an earlier run with this id has left, and notes that the folder belongs to this one. */
export async function ownFolder(
  around: Surroundings,
  queries: Queries,
  run: string,
  born: string,
): Promise<void> {
  const database = await identityOf(queries);
  const known = await noteOf(around, run);
  if (known?.born === born && known.database === database) return;
  if (known) await remove(around, run);
  try {
    await mkdir(around.workspace(run).folder, { recursive: true, mode: 0o700 });
    await replaceFile(around.disk, noteFile(around, run), JSON.stringify({ database, born }));
  } catch (error) {
    throw new Error(
      `The worker cannot write to its folder ${around.project.folder}: ${reasonOf(error)}. ${cureOf(error)}. It tries this again.`,
    );
  }
}

/** Removes the files of runs that are removed from the database, now and later. */
export function forgetRemovedRuns(
  around: Surroundings,
  database: Database,
  notices: Notices,
): () => void {
  let again: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const look = () => {
    clearTimeout(again);
    last = last
      .then(() => forgetNow(around, database))
      .then((isDone) => {
        if (!isDone) again = setTimeout(look, AGAIN_MS).unref();
      })
      // It is not urgent: the next notice or the next start tries it again.
      .catch(() => {});
  };
  const end = notices.on('gone', undefined, look);
  return () => {
    clearTimeout(again);
    end();
  };
}

const AGAIN_MS = 2_000;

/** False if some processes of such a run still live. */
async function forgetNow(around: Surroundings, database: Database): Promise<boolean> {
  const identity = await identityOf(database);
  const notes = new Map<string, string>();
  for (const run of await keptRuns(around)) {
    const note = await noteOf(around, run);
    if (note?.database === identity) notes.set(run, note.born);
  }
  const gone = await goneRuns(database, notes);
  const folderOf = (run: string) => around.workspace(run).folder;
  const busy = foldersWithProcesses(gone.map(folderOf));
  for (const id of gone) if (!busy.has(folderOf(id))) await remove(around, id);
  return busy.size === 0;
}

/** The runs that have a folder here. */
export async function keptRuns({ workspace }: Surroundings): Promise<readonly string[]> {
  const found = await readdir(dirname(workspace('x').folder)).catch(() => []);
  return found.filter(isRunId);
}

async function remove(around: Surroundings, run: string): Promise<void> {
  const { folder, tasks } = around.workspace(run);
  await new RunProcesses(folder).endStrays(0);
  for (const path of [cloneOf(around, run), tasks])
    await rm(path, { recursive: true, force: true });
  // Last, because it has the note.
  await rm(folder, { recursive: true, force: true });
}

const noteFile = ({ workspace }: Surroundings, run: string) =>
  join(workspace(run).folder, 'run-of-database');

const noteSchema = z.object({ database: z.string(), born: z.string() });

async function noteOf(
  around: Surroundings,
  run: string,
): Promise<z.infer<typeof noteSchema> | undefined> {
  const text = await readText(around.disk, noteFile(around, run), 1_000);
  return z.safeParse(
    noteSchema,
    attempt(() => JSON.parse(text ?? 'null')),
  ).data;
}
