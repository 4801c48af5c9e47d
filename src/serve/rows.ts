/** The rows of the list of runs. */
import { conditionOf, type StoredFacts } from '../model/condition.ts';
import { lastLimit, NO_LIMITS } from '../model/limits.ts';
import { pidOf } from '../model/pid-of.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { atWork, waitsForPerson } from '../model/tally.ts';
import { conditionText } from '../observe/words.ts';
import type { RunStore, StoredRun, SurveyedRun } from '../ports.ts';
import type { RunRow, StoredRow } from './shapes/run-row.ts';

/** The newest first; damaged runs last. */
export async function allRows(store: RunStore): Promise<readonly RunRow[]> {
  const startedAt = (one: SurveyedRun) => (one.kind === 'stored' ? one.run.startedAt : 0);
  const runs = (await store.survey()).toSorted((a, b) => startedAt(b) - startedAt(a));
  return runs.map((found) => rowOf(found));
}

function rowOf(found: SurveyedRun): RunRow {
  if (found.kind === 'stored') return storedRowOf(found);
  const { code, message, remedy } = found.problem;
  const problem = { code, message, remedy };
  return { id: found.id, status: 'damaged', condition: 'damaged', problem };
}

export function storedRowOf(found: StoredRun<RunSummary>): StoredRow {
  const { id, run, owner, isOwn } = found;
  const { tally } = run;
  return {
    id,
    ...statusOf(found),
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

export function statusOf(found: StoredFacts) {
  const condition = conditionOf(found);
  return { status: condition.kind, condition: conditionText(condition, Date.now()) };
}

export const iso = (ms: number) => new Date(ms).toISOString();
export const isoOrNull = (ms: number | undefined) => (ms === undefined ? null : iso(ms));
