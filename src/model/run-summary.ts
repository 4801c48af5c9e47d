import type { Limits } from './limits.ts';
import type { Run } from './run.ts';
import type { Tree } from './worktree.ts';

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
  /** The paths of the worktrees that should exist. Absent if there are none, and in a database. */
  readonly trees?: readonly string[] | undefined;
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

/** A worktree that has existed, and that Raymond has not removed. */
export interface KeptTree {
  readonly agent: string;
  readonly tree: Tree;
  readonly branch: string;
  /** It was missing at the end of its newest step. */
  readonly isMissing: boolean;
}

export function keptTrees(run: Run): readonly KeptTree[] {
  return [...run.agents, ...run.endedAgents].flatMap(([agent, { worktree }]) => {
    if (!worktree?.tree || !worktree.wasSeen) return [];
    const { tree, branch, look } = worktree;
    const isMissing = look?.missing === true;
    const isOver = 'fate' in worktree && worktree.fate !== 'kept';
    return isOver && !isMissing ? [] : [{ agent, tree, branch, isMissing }];
  });
}
