import { type BoundedText, bounded } from './bounded-text.ts';
import type { Cell, Origin } from './event.ts';
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
    | 'steps'
    | 'iterations'
    | 'failedEnds'
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
  /** The beginnings of what it was started with, what came of it, and why an agent has failed. */
  readonly input?: BoundedText | undefined;
  readonly result?: BoundedText | undefined;
  readonly failure?: BoundedText | undefined;
  /** The run of which it is a variant. Absent if it is none. */
  readonly origin?: Origin | undefined;
  /** Present for a run of an eval. */
  readonly cell?: Cell | undefined;
  /** The paths of the worktrees that should exist. Absent if there are none, and in a database. */
  readonly trees?: readonly string[] | undefined;
}

export function summaryOf(run: Run): RunSummary {
  const { seq, workflow, status, startedAt, updatedAt, workedMs, limits } = run;
  const { tally, steps, iterations, totalCostUsd, isPriced, failedEnds, input, result } = run;
  const failure = failureOf(run);
  return {
    ...{ seq, workflow, status, startedAt, updatedAt, workedMs, tally, iterations, totalCostUsd },
    ...{ steps, isPriced, failedEnds },
    budgetUsd: run.settings.budgetUsd,
    ...(Object.keys(limits).length > 0 && { limits }),
    agents: run.agents.size,
    endedAgents: run.endedAgents.size,
    isRehearsal: run.settings.rehearse === true,
    ...(input !== undefined && { input: bounded(input, MOST_CHARACTERS) }),
    ...(result !== undefined && { result: bounded(result, MOST_CHARACTERS) }),
    ...(run.origin && { origin: run.origin }),
    ...(run.cell && { cell: run.cell }),
    ...(failure !== undefined && { failure: bounded(failure, MOST_CHARACTERS) }),
  };
}

/** Enough for a line of a list, and little in a list of many runs. */
const MOST_CHARACTERS = 240;

/** Of the first agent that has failed, and that no join has reported. */
function failureOf({ agents, tally }: Run): string | undefined {
  if (tally.failed === 0) return undefined;
  for (const [, { status }] of agents) if (status.kind === 'failed') return status.failure.message;
  return undefined;
}

/** A worktree that has existed, and that Raymond has not removed. */
interface KeptTree {
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
