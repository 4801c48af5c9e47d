/** Converts a run to readable JSON. It contains the whole run, so a snapshot can replace all events before it. */

import { basename, dirname } from 'node:path';
import type { Choices } from '../model/agent.ts';
import type { Session } from '../model/event.ts';
import { lastLimit } from '../model/limits.ts';
import type { Agent, AgentStatus, Run } from '../model/run.ts';
import type { AgentWorktree, EndedWorktree } from '../model/worktree.ts';
import { isStateFile } from '../parse/state.ts';
import type {
  FrozenAgent,
  FrozenEndedWorktree,
  FrozenWorktree,
  StateFile,
} from './state-file-schema.ts';

export function freeze(run: Run): StateFile {
  return {
    workflow_id: run.id,
    seq: run.seq,
    scope_dir: scopeOf(run.workflow),
    workflow: run.workflow,
    status: run.status,
    started_at: iso(run.startedAt),
    updated_at: iso(run.updatedAt),
    worked_ms: run.workedMs,
    iteration_count: run.iterations,
    max_iterations: run.settings.maxIterations,
    total_cost_usd: run.totalCostUsd,
    ...(run.isPriced && { cost_is_estimate: true as const }),
    budget_usd: run.settings.budgetUsd,
    agents: [...run.agents].map(([, agent]) => freezeAgent(agent)),
    fork_counters: Object.fromEntries(run.forkCounters),
    workflow_files: Object.fromEntries(run.workflowFiles),
    metadata: run.metadata,
    ...(run.input !== undefined && { input: run.input }),
    ...(run.startedBy && { startedBy: run.startedBy }),
    ...(run.origin && { origin: run.origin }),
    ...(run.cell && { cell: run.cell }),
    cwd: run.cwd,
    settings: alsoFlat(run.settings.agent, run.settings),
    dearest_turn_usd: run.dearestTurnUsd ?? null,
    ...(run.turnCosts.size > 0 && { turn_costs_usd: Object.fromEntries(run.turnCosts) }),
    limited_until: lastLimit(run.limits) ?? null,
    ...(Object.keys(run.limits).some((name) => name !== '') && { limits: run.limits }),
    ...(Object.keys(run.closed).length > 0 && { closed_lanes: run.closed }),
    result: run.result ?? null,
    ...(run.said.size > 0 && { said: Object.fromEntries(run.said) }),
    ...(run.notes.size > 0 && { notes: Object.fromEntries(run.notes) }),
    ...(run.lessons.length > 0 && { lessons: [...run.lessons] }),
    ...(run.restoring.length > 0 && { restoring: [...run.restoring] }),
    ended_agents: [...run.endedAgents].map(([id, agent]) => ({
      id,
      parent: agent.parent ?? null,
      workflow: agent.workflow,
      state: agent.state,
      status: agent.end.kind,
      result: agent.end.kind === 'ended' ? agent.end.result : null,
      ...(agent.end.kind === 'ended' && agent.end.checked && { result_checked: true as const }),
      failure: agent.end.kind === 'failed' ? agent.end.failure : null,
      fork_attributes: agent.variables,
      ended_at: iso(agent.at),
      steps: agent.steps,
      cost_usd: agent.costUsd,
      ...(agent.isPriced && { cost_is_estimate: true as const }),
      ...(agent.worktree && { worktree: freezeEndedWorktree(agent.worktree) }),
      ...(agent.words && { words: agent.words }),
    })),
  };
}

function freezeAgent(agent: Agent): FrozenAgent {
  return alsoFlat(agent.choices, {
    id: agent.id,
    parent: agent.parent ?? null,
    current_state: agent.state,
    session_id: openId(agent.session),
    branch_of: branchOf(agent.session),
    ...branchAt(agent.session),
    ...ownerOf(agent.session),
    stack: agent.stack.map(({ session, state, workflow, cwd }) => ({
      session: openId(session),
      branch_of: branchOf(session),
      ...branchAt(session),
      ...ownerOf(session),
      state,
      scope_dir: scopeOf(workflow),
      workflow,
      cwd,
    })),
    cwd: agent.cwd,
    ...(agent.worktree && { worktree: freezeWorktree(agent.worktree) }),
    fork_attributes: agent.variables,
    ...(agent.withheld.length > 0 && { withheld: agent.withheld }),
    scope_dir: scopeOf(agent.workflow),
    workflow: agent.workflow,
    input: agent.input ?? null,
    ...(agent.filled && { filled: agent.filled }),
    choices: agent.choices,
    visits: agent.visits,
    ...(Object.keys(agent.entries).length > 0 && { entries: agent.entries }),
    ...(agent.entered !== undefined && { entered: agent.entered }),
    steps: agent.steps,
    attempts: agent.attempts,
    retries: agent.retries,
    previous_try: agent.previousTry ?? null,
    cost_usd: agent.costUsd,
    ...(agent.isPriced && { cost_is_estimate: true as const }),
    ...(agent.workers.length > 0 && { workers: agent.workers }),
    ...(agent.joined && { joined: agent.joined }),
    ...(agent.answerFiles && { answer_files: agent.answerFiles }),
    ...(agent.words.length > 0 && { words: agent.words }),
    ...(agent.stoppedBy !== undefined && { stopped_by: agent.stoppedBy }),
    status: freezeStatus(agent.status),
  });
}

/** Repeats the choices for an agent where version 1 had them, for programs that read state files. */
function alsoFlat<T extends object>(choices: Choices, frozen: T): T {
  return { ...choices, ...frozen };
}

/** JSON has no `undefined`, so an absent value is null in the file. */
function freezeStatus(status: AgentStatus): FrozenAgent['status'] {
  switch (status.kind) {
    case 'running': {
      const { requests, decided, isQueued, reservedUsd, rights, ...running } = status;
      return {
        ...running,
        session: status.session ?? null,
        executor: status.executor ?? null,
        worker: status.worker ?? null,
        ...(isQueued && { isQueued: true as const }),
        ...(reservedUsd !== undefined && { reservedUsd }),
        ...(rights && { rights }),
        ...(requests.length > 0 && { requests }),
        ...(decided.length > 0 && { decided }),
      };
    }
    case 'deciding':
      return { ...status, failure: status.failure ?? null };
    case 'asking':
      return {
        ...status,
        deadline: status.deadline ?? null,
        timeoutNext: status.timeoutNext ?? null,
      };
    case 'joining':
      return { ...status, closed: status.closed ?? null };
    case 'failed': {
      const { join, ...failed } = status;
      return join ? { ...failed, join } : failed;
    }
    default:
      return status;
  }
}

function freezeWorktree({ branch, tree, look, wasSeen }: AgentWorktree): FrozenWorktree {
  const { path = null, base = null, repository = null } = tree ?? {};
  return { branch, path, base, repository, look: look ?? null, was_seen: wasSeen };
}

function freezeEndedWorktree(worktree: EndedWorktree): FrozenEndedWorktree {
  return { ...freezeWorktree(worktree), fate: worktree.fate };
}

/** The ref of a workflow that begins at a named state ends with the file of that state. */
function scopeOf(workflow: string): string {
  return isStateFile(basename(workflow)) ? dirname(workflow) : workflow;
}

const openId = (session: Session) => (session.kind === 'open' ? session.id : null);
const branchOf = (session: Session) => (session.kind === 'branch' ? session.from : null);
const branchAt = (session: Session) =>
  session.kind === 'branch' && session.at !== undefined ? { branch_at: session.at } : {};

type FrozenOwner = Pick<
  FrozenAgent,
  'session_executor' | 'session_lane' | 'session_tokens' | 'handover'
>;

function ownerOf(session: Session): FrozenOwner {
  if (session.kind === 'none')
    return session.handover === undefined ? {} : { handover: session.handover };
  const { executor, lane, tokens } = session;
  return {
    ...(executor !== undefined && { session_executor: executor }),
    ...(lane !== undefined && { session_lane: lane }),
    ...(tokens !== undefined && { session_tokens: tokens }),
  };
}

const iso = (ms: number) => new Date(ms).toISOString();
