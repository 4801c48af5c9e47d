import type { Run } from './run.ts';

/** The facts about a run that distinguish it from others in a list. */
export interface RunSummary
  extends Pick<
    Run,
    'status' | 'startedAt' | 'updatedAt' | 'tally' | 'iterations' | 'totalCostUsd'
  > {
  readonly limitedUntil?: number | undefined;
  /** The number of agents that have not ended. */
  readonly agents: number;
  readonly endedAgents: number;
  readonly isRehearsal: boolean;
}

export function summaryOf(run: Run): RunSummary {
  const { status, startedAt, updatedAt, tally, iterations, totalCostUsd, limitedUntil } = run;
  return {
    ...{ status, startedAt, updatedAt, tally, iterations, totalCostUsd },
    ...(limitedUntil !== undefined && { limitedUntil }),
    agents: run.agents.size,
    endedAgents: run.endedAgents.size,
    isRehearsal: run.settings.rehearse === true,
  };
}
