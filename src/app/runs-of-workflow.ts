import { dirname } from 'node:path';
import { allRuns } from '../look/all-runs.ts';
import { counted } from '../model/counted.ts';
import type { RunSummary } from '../model/run-summary.ts';
import type { Workflow } from '../model/workflow.ts';
import type { DamagedRun, RunStore, StoredRun, SurveyedRun } from '../ports.ts';
import { idsMeant } from './find-run.ts';
import { statusFilter } from './list.ts';

export interface RunsWish {
  /** The ids of runs, or prefixes of ids. Empty: all runs of the workflow. */
  readonly names: readonly string[];
  /** Words of `CONDITIONS`, separated by commas. */
  readonly status?: string | undefined;
  /** Only the newest n runs. */
  readonly newest?: number | undefined;
}

export interface RunsOfWorkflow {
  /** The newest first. */
  readonly runs: readonly (StoredRun<RunSummary> | DamagedRun)[];
  /** Sentences about those that are left out, and those of others. */
  readonly notices: readonly string[];
}

/**
 * The runs of a workflow on which no process works. A person who names runs may also mean those of another
 * workflow, such as the original of a copy, and rehearsals.
 */
export async function runsOfWorkflow(
  store: RunStore,
  { ref, name, about }: Pick<Workflow, 'ref' | 'name' | 'about'>,
  { names, status, newest = Number.POSITIVE_INFINITY }: RunsWish,
): Promise<RunsOfWorkflow> {
  const hasStatus = statusFilter(status);
  const ids = names.length > 0 ? await store.list() : [];
  const named = new Set(names.flatMap((one) => idsMeant(ids, one)));
  // A run may have begun at another state of the workflow.
  const isOf = ({ run }: StoredRun<RunSummary>) =>
    run.workflow === ref || dirname(run.workflow) === ref;
  const isMeant = (one: SurveyedRun) => {
    if (names.length > 0) return named.has(one.id);
    return one.kind === 'stored' ? isOf(one) : one.id.startsWith(`${about.id ?? name}-`);
  };
  const meant = (await allRuns(store)).filter((one) => isMeant(one) && hasStatus(one)).toReversed();
  const isWorking = (one: SurveyedRun) => one.kind === 'stored' && one.run.status.kind !== 'ended';
  const isRehearsal = (one: SurveyedRun) =>
    names.length === 0 && one.kind === 'stored' && one.run.isRehearsal;
  const over = meant.filter((one) => !isWorking(one));
  const runs = over.filter((one) => !isRehearsal(one)).slice(0, newest);
  const foreign = runs.filter((one) => one.kind === 'stored' && !one.isOwn);
  return {
    runs,
    notices: [
      ...sentence(meant.length - over.length, 'run', 'not over yet, and left out.'),
      ...sentence(
        over.filter(isRehearsal).length,
        'rehearsal',
        'left out. A rehearsal counts if you name it.',
      ),
      ...sentence(foreign.length, 'run', 'not yours, so the answers may be made up.'),
    ],
  };
}

function sentence(count: number, what: string, fact: string): readonly string[] {
  if (count === 0) return [];
  return [`${counted(count, what)} ${count === 1 ? 'is' : 'are'} ${fact}`];
}
