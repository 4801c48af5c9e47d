/** What all runs together cost and achieved, by day and by workflow. Made from the list of runs. */
import type { RunRow, StoredRow } from '../../src/look/run-shape.ts';
import { msOf } from '../lib/words.ts';

export interface Day {
  /** Midnight, in ms. */
  readonly at: number;
  readonly runs: number;
  readonly failed: number;
  readonly costUsd: number;
  readonly workedMs: number;
}

/** Rehearsals cost nothing and achieve nothing. */
export const counting = (runs: readonly RunRow[]): readonly StoredRow[] =>
  runs.flatMap((run) => (run.status === 'damaged' || run.rehearsal ? [] : [run]));

/** The last days up to now, also those without a run. */
export function daysOf(runs: readonly StoredRow[], days: number, now: number): readonly Day[] {
  const list = Array.from({ length: days }, (_, n) => {
    const day = new Date(now);
    day.setHours(0, 0, 0, 0);
    day.setDate(day.getDate() - (days - 1 - n));
    return day.getTime();
  });
  return list.map((at, index) => {
    const end = list[index + 1] ?? Number.POSITIVE_INFINITY;
    const own = runs.filter(({ started_at }) => msOf(started_at) >= at && msOf(started_at) < end);
    return {
      at,
      runs: own.length,
      failed: own.filter(isFailed).length,
      costUsd: sum(own, 'cost_usd'),
      workedMs: sum(own, 'worked_ms'),
    };
  });
}

export interface WorkflowSum {
  readonly workflow: string;
  readonly runs: number;
  readonly completed: number;
  readonly failed: number;
  readonly costUsd: number;
  /** Of completed runs; undefined if there are none. */
  readonly usual: { readonly costUsd: number; readonly workedMs: number } | undefined;
  /** The newest completed run, as a part of what the runs before it let expect. */
  readonly newest:
    | { readonly id: string; readonly cost: number | undefined; readonly time: number | undefined }
    | undefined;
}

/** The most expensive first. */
export function workflowSums(runs: readonly StoredRow[]): readonly WorkflowSum[] {
  const groups = new Map<string, StoredRow[]>();
  for (const run of runs) groups.set(run.workflow, [...(groups.get(run.workflow) ?? []), run]);
  return [...groups]
    .map(([workflow, own]) => sumOf(workflow, own))
    .sort((a, b) => b.costUsd - a.costUsd || b.runs - a.runs);
}

function sumOf(workflow: string, runs: readonly StoredRow[]): WorkflowSum {
  const completed = runs
    .filter(({ status }) => status === 'completed')
    .toSorted((a, b) => msOf(b.started_at) - msOf(a.started_at));
  const [newest, ...earlier] = completed;
  const part = (of: 'cost_usd' | 'worked_ms') => {
    const expected = median(earlier.map((run) => run[of]));
    return newest && expected !== undefined && expected > 0 ? newest[of] / expected : undefined;
  };
  return {
    workflow,
    runs: runs.length,
    completed: completed.length,
    failed: runs.filter(isFailed).length,
    costUsd: sum(runs, 'cost_usd'),
    usual: newest && {
      costUsd: median(completed.map((run) => run.cost_usd)) ?? 0,
      workedMs: median(completed.map((run) => run.worked_ms)) ?? 0,
    },
    // A forecast needs three completed runs.
    newest:
      newest && earlier.length >= LEAST
        ? { id: newest.id, cost: part('cost_usd'), time: part('worked_ms') }
        : undefined,
  };
}

const LEAST = 3;

const isFailed = ({ status, agents }: StoredRow) =>
  status === 'failed' || status === 'crashed' || agents.failed + agents.failed_joined > 0;

const sum = (runs: readonly StoredRow[], of: 'cost_usd' | 'worked_ms') =>
  runs.reduce((all, run) => all + run[of], 0);

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
