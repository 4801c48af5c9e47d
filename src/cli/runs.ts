/** The runs of a project, as they are now. */
import type { RunSummary } from '../model/run-summary.ts';
import { unreachable } from '../model/unreachable.ts';
import { time } from '../observe/words.ts';
import type { EachEvent, RunStore, StoredRun, SurveyedRun } from '../ports.ts';
import { findRun } from './find-run.ts';

/** The run that a person names. Throws a UserError if it does not exist or cannot be read. */
export async function openRun(store: RunStore, name: string, each?: EachEvent): Promise<StoredRun> {
  const found = await store.look(findRun(await store.list(), name), each);
  if (found.kind === 'damaged') throw found.problem;
  return found;
}

/** All runs, the oldest first. Runs that cannot be read come before all others. */
export async function allRuns(store: RunStore): Promise<readonly SurveyedRun[]> {
  const startedAt = (one: SurveyedRun) => (one.kind === 'stored' ? one.run.startedAt : 0);
  return (await store.survey()).toSorted((a, b) => startedAt(a) - startedAt(b));
}

type Facts = Pick<RunSummary, 'status' | 'tally' | 'limitedUntil'>;

/** The status of the run in one word or phrase, as `list` shows it. */
export function condition({ run, owner }: Pick<StoredRun<Facts>, 'run' | 'owner'>): string {
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

function liveCondition({ tally, limitedUntil }: Facts): string {
  if (tally.promptsRunning + tally.scriptsRunning > 0) return 'running';
  if (limitedUntil !== undefined) return `waiting for the usage limit until ${time(limitedUntil)}`;
  return tally.asking > 0 ? 'waiting for an answer' : 'running';
}
