/** Restores a run from its readable JSON. */

import * as z from 'zod/mini';
import type { Session } from '../model/event.ts';
import { type Limits, NO_LIMITS, withLimit } from '../model/limits.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, AgentEnd, AgentStatus, EndedAgent, Run } from '../model/run.ts';
import { tallyOf } from '../model/tally.ts';
import type { AgentWorktree, EndedWorktree } from '../model/worktree.ts';
import {
  type FrozenAgent,
  type FrozenEndedAgent,
  type FrozenEndedWorktree,
  type FrozenWorktree,
  stateFileSchema,
} from './state-file-schema.ts';

/** Undefined if this is not the state of a run. */
export function thaw(json: unknown): Run | undefined {
  const read = z.safeParse(stateFileSchema, json);
  if (!read.success) return undefined;
  const file = read.data;
  const agents = file.agents.map(thawAgent);
  return {
    id: file.workflow_id,
    seq: file.seq,
    workflow: file.workflow,
    cwd: file.cwd,
    settings: file.settings,
    metadata: file.metadata,
    input: file.input,
    startedBy: file.startedBy,
    origin: file.origin,
    cell: file.cell,
    startedAt: Date.parse(file.started_at),
    updatedAt: Date.parse(file.updated_at),
    workedMs: file.worked_ms ?? 0,
    status: file.status,
    agents: PersistentMap.from(agents.map((agent) => [agent.id, agent])),
    endedAgents: PersistentMap.from(file.ended_agents.map((agent) => [agent.id, thawEnded(agent)])),
    failedEnds: file.ended_agents.filter(({ status }) => status === 'failed').length,
    forkCounters: PersistentMap.from(Object.entries(file.fork_counters)),
    workflowFiles: PersistentMap.from(Object.entries(file.workflow_files ?? {})),
    tally: tallyOf(agents),
    removals: file.ended_agents.filter(({ worktree }) => worktree?.fate === 'removing').length,
    steps: [...agents, ...file.ended_agents].reduce((sum, { steps }) => sum + steps, 0),
    iterations: file.iteration_count,
    totalCostUsd: file.total_cost_usd,
    isPriced: file.cost_is_estimate === true,
    dearestTurnUsd: file.dearest_turn_usd ?? undefined,
    turnCosts: PersistentMap.from(Object.entries(file.turn_costs_usd ?? {})),
    limits: file.limits ?? limitsOfOlder(file),
    closed: file.closed_lanes ?? {},
    result: file.result ?? undefined,
    said: PersistentMap.from(Object.entries(file.said ?? {})),
    notes: PersistentMap.from(Object.entries(file.notes ?? {})),
    lessons: file.lessons ?? [],
    restoring: file.restoring ?? [],
  };
}

/** Files of earlier versions have one limit, which concerns all executors. */
function limitsOfOlder({ limited_until: until }: { limited_until: number | null }): Limits {
  return until === null ? NO_LIMITS : withLimit(NO_LIMITS, undefined, until);
}

function thawAgent(frozen: FrozenAgent): Agent {
  return {
    id: frozen.id,
    parent: frozen.parent ?? undefined,
    workflow: frozen.workflow,
    state: frozen.current_state,
    session: toSession(frozen.session_id, frozen),
    cwd: frozen.cwd,
    worktree: frozen.worktree && thawWorktree(frozen.worktree),
    stack: frozen.stack.map((frame) => ({
      state: frame.state,
      workflow: frame.workflow,
      session: toSession(frame.session, frame),
      cwd: frame.cwd,
    })),
    variables: frozen.fork_attributes,
    withheld: frozen.withheld ?? [],
    input: frozen.input ?? undefined,
    filled: frozen.filled,
    choices: frozen.choices,
    visits: frozen.visits,
    entries: frozen.entries ?? {},
    entered: frozen.entered,
    steps: frozen.steps,
    attempts: frozen.attempts,
    retries: frozen.retries,
    previousTry: frozen.previous_try ?? undefined,
    costUsd: frozen.cost_usd,
    isPriced: frozen.cost_is_estimate === true,
    workers: frozen.workers ?? [],
    joined: frozen.joined,
    answerFiles: frozen.answer_files,
    words: frozen.words ?? [],
    stoppedBy: frozen.stopped_by,
    status: thawStatus(frozen.status),
  };
}

function thawEnded(frozen: FrozenEndedAgent): EndedAgent {
  return {
    at: Date.parse(frozen.ended_at),
    parent: frozen.parent ?? undefined,
    workflow: frozen.workflow,
    state: frozen.state,
    variables: frozen.fork_attributes ?? {},
    end: endOf(frozen),
    steps: frozen.steps,
    costUsd: frozen.cost_usd,
    isPriced: frozen.cost_is_estimate === true,
    worktree: frozen.worktree && thawEndedWorktree(frozen.worktree),
    ...(frozen.words && { words: frozen.words }),
  };
}

function endOf({ status, result, result_checked, failure }: FrozenEndedAgent): AgentEnd {
  if (status === 'stopped' || status === 'rewound') return { kind: status };
  if (failure) return { kind: 'failed', failure };
  return { kind: 'ended', result: result ?? '', ...(result_checked && { checked: true }) };
}

function thawStatus(status: FrozenAgent['status']): AgentStatus {
  switch (status.kind) {
    case 'running':
      return {
        ...status,
        session: status.session ?? undefined,
        executor: status.executor ?? undefined,
        worker: status.worker ?? undefined,
        isQueued: status.isQueued === true,
        reservedUsd: status.reservedUsd,
        requests: status.requests ?? [],
        decided: status.decided ?? [],
      };
    case 'deciding':
      return { ...status, failure: status.failure ?? undefined };
    case 'asking':
      return {
        ...status,
        deadline: status.deadline ?? undefined,
        timeoutNext: status.timeoutNext ?? undefined,
      };
    case 'joining':
      return { ...status, closed: status.closed ?? undefined };
    case 'failed':
      return { ...status, join: status.join };
    default:
      return status;
  }
}

function thawWorktree(frozen: FrozenWorktree): AgentWorktree {
  const { branch, path, base, repository, look, was_seen: wasSeen } = frozen;
  const isMade = path !== null && base !== null && repository !== null;
  const tree = isMade ? { tree: { path, base, repository } } : {};
  return { branch, ...tree, look: look ?? undefined, wasSeen };
}

function thawEndedWorktree(frozen: FrozenEndedWorktree): EndedWorktree {
  return { ...thawWorktree(frozen), fate: frozen.fate };
}

function toSession(
  id: string | null,
  { branch_of: from, branch_at: at, session_executor: executor, ...more }: FrozenBranch,
): Session {
  const { session_lane: lane, session_tokens: tokens, handover } = more;
  const owner = {
    ...(executor !== undefined && { executor }),
    ...(lane !== undefined && { lane }),
    ...(tokens !== undefined && { tokens }),
  };
  if (id !== null) return { kind: 'open', id, ...owner };
  if (from === null) return { kind: 'none', ...(handover !== undefined && { handover }) };
  return { kind: 'branch', from, ...(at !== undefined && { at }), ...owner };
}

type FrozenBranch = Pick<
  FrozenAgent,
  'branch_of' | 'branch_at' | 'session_executor' | 'session_lane' | 'session_tokens' | 'handover'
>;
