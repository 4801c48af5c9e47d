import type { Limits } from './limits.ts';
import type { Run } from './run.ts';

/** The facts about a run that distinguish it from others in a list. */
export interface RunSummary
  extends Pick<
    Run,
    | 'seq'
    | 'workflow'
    | 'status'
    | 'startedAt'
    | 'updatedAt'
    | 'workedMs'
    | 'tally'
    | 'iterations'
    | 'totalCostUsd'
    | 'isPriced'
  > {
  /** 0 is unlimited. */
  readonly budgetUsd: number;
  /** Absent if there are none. */
  readonly limits?: Limits | undefined;
  /** The number of agents that have not ended. */
  readonly agents: number;
  readonly endedAgents: number;
  readonly isRehearsal: boolean;
}

export function summaryOf(run: Run): RunSummary {
  const { seq, workflow, status, startedAt, updatedAt, workedMs, limits } = run;
  const { tally, iterations, totalCostUsd, isPriced } = run;
  return {
    ...{ seq, workflow, status, startedAt, updatedAt, workedMs, tally, iterations, totalCostUsd },
    isPriced,
    budgetUsd: run.settings.budgetUsd,
    ...(Object.keys(limits).length > 0 && { limits }),
    agents: run.agents.size,
    endedAgents: run.endedAgents.size,
    isRehearsal: run.settings.rehearse === true,
  };
}
