/** The rows of the list of runs. */
import { lastLimit, NO_LIMITS } from '../model/limits.ts';
import { pidOf } from '../model/pid-of.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { atWork, waitsForPerson } from '../model/tally.ts';
import type { RunControl, RunStore, StoredRun, SurveyedRun } from '../ports.ts';
import { RUN_STATUSES, type RunRow, type RunStatusWord, type StoredRow } from './shapes/run-row.ts';

type Condition = RunControl['condition'];

/** The newest first; damaged runs last. */
export async function allRows(store: RunStore, condition: Condition): Promise<readonly RunRow[]> {
  const startedAt = (one: SurveyedRun) => (one.kind === 'stored' ? one.run.startedAt : 0);
  const runs = (await store.survey()).toSorted((a, b) => startedAt(b) - startedAt(a));
  return runs.map((found) => rowOf(found, condition));
}

function rowOf(found: SurveyedRun, condition: Condition): RunRow {
  if (found.kind === 'stored') return storedRowOf(found, condition);
  const { code, message, remedy } = found.problem;
  const problem = { code, message, remedy };
  return { id: found.id, status: 'damaged', condition: 'damaged', problem };
}

export function storedRowOf(found: StoredRun<RunSummary>, condition: Condition): StoredRow {
  const { id, run, owner, isOwn } = found;
  const { tally } = run;
  const words = condition(found);
  return {
    id,
    status: statusWord(words),
    condition: words,
    workflow: run.workflow,
    started_at: iso(run.startedAt),
    updated_at: iso(run.updatedAt),
    worked_ms: run.workedMs,
    agents: {
      running: atWork(tally),
      waiting: waitsForPerson(tally) + tally.waiting + tally.joining,
      failed: tally.failed,
      ended: run.endedAgents,
    },
    steps: run.iterations,
    cost_usd: run.totalCostUsd,
    ...(run.isPriced && { cost_is_estimate: true as const }),
    budget_usd: run.budgetUsd,
    questions: waitsForPerson(tally),
    limited_until: isoOrNull(lastLimit(run.limits ?? NO_LIMITS)),
    limits: Object.entries(run.limits ?? NO_LIMITS).map(([agent, until]) => ({
      agent: agent === '' ? null : agent,
      until: iso(until),
    })),
    rehearsal: run.isRehearsal,
    own: isOwn,
    pid: pidOf(owner),
    position: run.seq,
  };
}

/** The first word of a condition is its status. */
export function statusWord(words: string): RunStatusWord {
  const [first = ''] = /^\w+/.exec(words) ?? [];
  const found = RUN_STATUSES.find((status) => status === first);
  if (found === undefined) throw new Error(`No status is named ${first}`);
  return found;
}

export const iso = (ms: number) => new Date(ms).toISOString();
export const isoOrNull = (ms: number | undefined) => (ms === undefined ? null : iso(ms));
