/** The runs of a project, as they are now. */

import { allRuns } from '../look/all-runs.ts';
import { conditionOf, type FoundFacts } from '../model/condition.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { UserError } from '../model/user-error.ts';
import { conditionText, time } from '../observe/words.ts';
import type { EachEvent, RunStore, StoredRun, SurveyedRun } from '../ports.ts';
import { ambiguousRun, idsMeant } from './find-run.ts';

export { allRuns };

/** Throws a UserError if the run cannot be read. */
export async function openRun(store: RunStore, id: string, each?: EachEvent): Promise<StoredRun> {
  const found = await store.look(id, each);
  if (found.kind === 'damaged') throw found.problem;
  return found;
}

/**
 * The run for a command that only looks: the newest one that the name may mean, or the newest of all.
 * A command that prefers some runs passes `fits`; if no run fits, the newest one of all counts.
 */
export async function runToSee(
  store: RunStore,
  name: string | undefined,
  fits: (found: StoredRun<RunSummary>) => boolean = () => true,
): Promise<string> {
  if (name === undefined) {
    const runs = await allRuns(store);
    const found = runs.findLast((one) => one.kind === 'stored' && fits(one)) ?? runs.at(-1);
    if (!found) throw noRuns();
    return found.id;
  }
  const [only = '', ...others] = idsMeant(await store.list(), name);
  if (others.length === 0) return only;
  const meant = new Set([only, ...others]);
  return (await allRuns(store)).findLast(({ id }) => meant.has(id))?.id ?? only;
}

/** The run for a command that acts. A name that several runs begin with is an error that lists them. */
export async function runToChange(store: RunStore, name: string): Promise<string> {
  const [only = '', ...others] = idsMeant(await store.list(), name);
  if (others.length === 0) return only;
  const meant = new Set([only, ...others]);
  const runs = (await allRuns(store)).filter(({ id }) => meant.has(id)).toReversed();
  throw ambiguousRun(name, runs.map(described));
}

function described(found: SurveyedRun): string {
  if (found.kind === 'damaged') return `${found.id} (damaged)`;
  return `${found.id} (${statusOf(found)}, started ${time(found.run.startedAt, Date.now())})`;
}

function noRuns(): UserError {
  return new UserError('no-run', 'This project has no runs.', 'To start one: raymond <workflow>');
}

/** The status of the run in words, as `list` shows it. */
export const statusOf = (found: FoundFacts): string =>
  conditionText(conditionOf(found), Date.now());
