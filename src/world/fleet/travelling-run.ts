/** What a worker needs to continue a run that other machines have worked on. */
import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { clonedPlace } from '../../execute/git/cloned-place.ts';
import { gitWorktrees } from '../../execute/git/worktrees.ts';
import { travellingExecutors } from '../../execute/turn/travelling.ts';
import { carriedRoots, carriedSessions } from '../../fleet/belongings.ts';
import type { KeepWithStep } from '../../fleet/ports.ts';
import type { Run } from '../../model/run.ts';
import type { FileHistory, RunFolders, RunPlace } from '../../ports.ts';
import type { Database } from '../../postgres/database.ts';
import type { RowSeals } from '../../postgres/seals.ts';
import type { Surroundings } from '../surroundings.ts';
import type { ChosenExecutors } from '../wire.ts';
import { cloneOf } from './runs-of-worker.ts';

export interface TravellingRun {
  readonly run: Run;
  readonly keep: KeepWithStep;
  readonly around: Surroundings;
  readonly database: Database;
  readonly rows: RowSeals;
}

export function withSessions(
  { run, keep, around, database, rows }: TravellingRun,
  chosen: ChosenExecutors,
): ChosenExecutors {
  const sessions = carriedSessions({ database, run: run.id, keep, rows });
  return travellingExecutors(chosen, {
    sessions,
    seals: chosen.processes.seals,
    folder: around.workspace(run.id).sessions,
  });
}

/**
 * Where the run works on this machine. Undefined if its directory is the same on all machines. `files`
 * must be the only one of the run in this process, because it remembers what it has recorded.
 */
export async function placeOf(
  { run, keep, around, database, rows }: TravellingRun,
  { remote, root }: { readonly remote: string | null; readonly root: string | undefined },
  files: FileHistory,
): Promise<RunPlace | undefined> {
  if (remote === null || root === undefined) return undefined;
  const folder = await realpath(around.project.folder);
  const ofRun = join(folder, relative(around.project.folder, cloneOf(around, run.id)));
  return clonedPlace({
    run: run.id,
    root,
    clone: join(ofRun, 'work'),
    remote: { url: remote, folder: ofRun },
    files,
    roots: carriedRoots({ database, run: run.id, keep, rows }),
  });
}

/**
 * In a shared directory, the task folders and the worktrees are beside the files of the run, where all
 * workers find them.
 */
export async function sharedFolders({ run, around }: TravellingRun, chosen: ChosenExecutors) {
  const own = around.workspace(run.id);
  const shared = await around.workspaceIn(run.cwd, run.id);
  const folders: RunFolders = {
    step: own.step,
    hasBegun: own.hasBegun,
    task: shared.task,
    notes: shared.notes,
    put: shared.put,
  };
  const worktrees =
    chosen.worktrees &&
    gitWorktrees({
      run: run.id,
      folder: shared.worktrees,
      records: own.makings,
      processes: chosen.processes,
    });
  return { folders, ...(worktrees && { worktrees }) };
}
