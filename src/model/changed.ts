/**
 * Copies with some other fields, as `{ ...run, ...change }` gives them. Every event of a journal needs
 * several such copies, and spreading all fields takes twenty times as long as naming them. The compiler
 * rejects a list that lacks a field.
 */
import type { Agent, Run } from './run.ts';

export function changedRun(run: Run, change: Partial<Run>, more?: Partial<Run>): Run {
  const copy: Run = {
    id: run.id,
    seq: run.seq,
    workflow: run.workflow,
    cwd: run.cwd,
    settings: run.settings,
    metadata: run.metadata,
    input: run.input,
    startedBy: run.startedBy,
    origin: run.origin,
    cell: run.cell,
    startedAt: run.startedAt,
    updatedAt: run.updatedAt,
    workedMs: run.workedMs,
    status: run.status,
    agents: run.agents,
    endedAgents: run.endedAgents,
    failedEnds: run.failedEnds,
    forkCounters: run.forkCounters,
    workflowFiles: run.workflowFiles,
    tally: run.tally,
    removals: run.removals,
    steps: run.steps,
    iterations: run.iterations,
    totalCostUsd: run.totalCostUsd,
    isPriced: run.isPriced,
    dearestTurnUsd: run.dearestTurnUsd,
    turnCosts: run.turnCosts,
    limits: run.limits,
    closed: run.closed,
    result: run.result,
    said: run.said,
    notes: run.notes,
    lessons: run.lessons,
    restoring: run.restoring,
  };
  return Object.assign(copy, change, more);
}

export function changedAgent(agent: Agent, change: Partial<Agent>, more?: Partial<Agent>): Agent {
  const copy: Agent = {
    id: agent.id,
    parent: agent.parent,
    workflow: agent.workflow,
    state: agent.state,
    session: agent.session,
    cwd: agent.cwd,
    worktree: agent.worktree,
    stack: agent.stack,
    variables: agent.variables,
    withheld: agent.withheld,
    input: agent.input,
    filled: agent.filled,
    choices: agent.choices,
    visits: agent.visits,
    entries: agent.entries,
    entered: agent.entered,
    steps: agent.steps,
    attempts: agent.attempts,
    retries: agent.retries,
    previousTry: agent.previousTry,
    costUsd: agent.costUsd,
    isPriced: agent.isPriced,
    workers: agent.workers,
    joined: agent.joined,
    answerFiles: agent.answerFiles,
    words: agent.words,
    stoppedBy: agent.stoppedBy,
    status: agent.status,
  };
  return Object.assign(copy, change, more);
}
