/** The runs of a project, as they are now. */
import type { Run } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import { time } from '../observe/words.ts';
import type { LookedAtRun, RunStore, StoredRun } from '../ports.ts';
import { findRun } from './find-run.ts';

/** The run that a person names. Throws a UserError if it does not exist or cannot be read. */
export async function openRun(store: RunStore, name: string): Promise<StoredRun> {
  const found = await store.look(findRun(await store.list(), name));
  if (found.kind === 'damaged') throw found.problem;
  return found;
}

/** All runs, the oldest first. Runs that cannot be read come before all others. */
export async function allRuns(store: RunStore): Promise<readonly LookedAtRun[]> {
  const ids = await store.list();
  const found: LookedAtRun[] = [];
  for (let from = 0; from < ids.length; from += RUNS_AT_ONCE)
    found.push(...(await Promise.all(ids.slice(from, from + RUNS_AT_ONCE).map(store.look))));
  const startedAt = (one: LookedAtRun) => (one.kind === 'stored' ? one.run.startedAt : 0);
  return found.sort((a, b) => startedAt(a) - startedAt(b));
}

/** Each run may need an open file, and a process has a limited number. */
const RUNS_AT_ONCE = 16;

/** The status of the run in one word or phrase, as `list` shows it. */
export function condition({ run, owner }: Pick<StoredRun, 'run' | 'owner'>): string {
  switch (run.status.kind) {
    case 'ended':
      return run.status.outcome;
    case 'active':
      return owner ? liveCondition(run) : 'crashed';
    case 'stopping':
      return owner ? 'stopping' : 'crashed';
    default:
      return unreachable(run.status);
  }
}

function liveCondition({ tally, limitedUntil }: Run): string {
  if (tally.promptsRunning + tally.scriptsRunning > 0) return 'running';
  if (limitedUntil !== undefined) return `waiting for the usage limit until ${time(limitedUntil)}`;
  return tally.asking > 0 ? 'waiting for an answer' : 'running';
}
