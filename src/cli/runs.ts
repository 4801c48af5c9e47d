/** The runs of a project, as they are now. */

import { findRun, listRuns } from '../journal/find-run.ts';
import { journalOfAnother } from '../journal/journal-errors.ts';
import type { Project, RunPaths } from '../journal/project.ts';
import { readRun } from '../journal/read-journal.ts';
import type { Run } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import { UserError } from '../model/user-error.ts';
import { time } from '../observe/words.ts';
import { isOwnRun } from './own-runs.ts';
import { codec, disk, ownerOf, pathsOf } from './store.ts';

export interface FoundRun {
  readonly id: string;
  readonly paths: RunPaths;
  readonly run: Run;
  /** Whether the user started it here: see `own-runs.ts`. */
  readonly isOwn: boolean;
  /** The process that works on it. */
  readonly pid: number | undefined;
}

/** A run whose files cannot be read. */
export interface DamagedRun {
  readonly id: string;
  readonly problem: UserError;
}

export async function openRun(project: Project, name: string): Promise<FoundRun> {
  return lookAt(project, await findRun(disk, project, name));
}

export async function allRuns(project: Project): Promise<readonly (FoundRun | DamagedRun)[]> {
  const ids = await listRuns(disk, project);
  const found: (FoundRun | DamagedRun)[] = [];
  for (let from = 0; from < ids.length; from += RUNS_AT_ONCE) {
    const some = ids.slice(from, from + RUNS_AT_ONCE);
    const looks = some.map((id) => lookAt(project, id).catch((error) => damaged(id, error)));
    found.push(...(await Promise.all(looks)));
  }
  const startedAt = (run: FoundRun | DamagedRun) => ('run' in run ? run.run.startedAt : 0);
  return found.sort((a, b) => startedAt(a) - startedAt(b));
}

/** Each has a file open, and a process may have few. */
const RUNS_AT_ONCE = 16;

/** What a person would say of the run: the word in `list`. */
export function condition({ run, pid }: FoundRun): string {
  switch (run.status.kind) {
    case 'ended':
      return run.status.outcome;
    case 'active':
      return pid === undefined ? 'crashed' : liveCondition(run);
    case 'stopping':
      return pid === undefined ? 'crashed' : 'stopping';
    default:
      return unreachable(run.status);
  }
}

function liveCondition({ tally, limitedUntil }: Run): string {
  if (tally.promptsRunning + tally.scriptsRunning > 0) return 'running';
  if (limitedUntil !== undefined) return `waiting for the usage limit until ${time(limitedUntil)}`;
  return tally.asking > 0 ? 'waiting for an answer' : 'running';
}

async function lookAt(project: Project, id: string): Promise<FoundRun> {
  const paths = pathsOf(project, id);
  // In this order: a process writes how the run ended, and then releases it.
  const owner = await ownerOf(paths);
  const { run } = await readRun(disk, paths.journal, codec);
  const problem = journalOfAnother(id, run.id);
  if (problem) throw problem;
  const isOwn = await isOwnRun(paths, run);
  return { id, paths, run, isOwn, pid: owner?.pid };
}

function damaged(id: string, error: unknown): DamagedRun {
  if (error instanceof UserError) return { id, problem: error };
  throw error;
}
