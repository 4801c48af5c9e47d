/**
 * Converts a run to readable JSON and back, for the state file in `.raymond/state` and the journal's
 * snapshots. The JSON contains the whole run, so a snapshot can replace all events before it.
 */
import { basename, dirname } from 'node:path';
import * as z from 'zod/mini';
import type { Choices } from '../model/agent.ts';
import {
  joinEndSchema,
  joinSchema,
  runOutcomeSchema,
  type Session,
  sessionUseSchema,
  settingsSchema,
  stopHowSchema,
  stopWhySchema,
  taskSchema,
} from '../model/event.ts';
import { failureSchema } from '../model/failure.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, AgentEnd, AgentStatus, EndedAgent, Run } from '../model/run.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { tallyOf } from '../model/tally.ts';
import { isStateFile } from '../parse/state.ts';
import {
  endedWorktreeSchema,
  freezeEndedWorktree,
  freezeWorktree,
  thawEndedWorktree,
  thawWorktree,
  worktreeSchema,
} from './frozen-worktree.ts';

export type StateFile = z.infer<typeof stateFileSchema>;

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
    budget_usd: run.settings.budgetUsd,
    agents: [...run.agents].map(([, agent]) => freezeAgent(agent)),
    fork_counters: Object.fromEntries(run.forkCounters),
    workflow_files: Object.fromEntries(run.workflowFiles),
    metadata: run.metadata,
    cwd: run.cwd,
    settings: alsoFlat(run.settings.agent, run.settings),
    dearest_turn_usd: run.dearestTurnUsd ?? null,
    limited_until: run.limitedUntil ?? null,
    result: run.result ?? null,
    ended_agents: [...run.endedAgents].map(([id, agent]) => ({
      id,
      parent: agent.parent ?? null,
      workflow: agent.workflow,
      state: agent.state,
      status: agent.end.kind,
      result: agent.end.kind === 'ended' ? agent.end.result : null,
      failure: agent.end.kind === 'failed' ? agent.end.failure : null,
      fork_attributes: agent.variables,
      ended_at: iso(agent.at),
      steps: agent.steps,
      cost_usd: agent.costUsd,
      ...(agent.worktree && { worktree: freezeEndedWorktree(agent.worktree) }),
    })),
  };
}

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
    startedAt: Date.parse(file.started_at),
    updatedAt: Date.parse(file.updated_at),
    workedMs: file.worked_ms ?? 0,
    status: file.status,
    agents: PersistentMap.from(agents.map((agent) => [agent.id, agent])),
    endedAgents: PersistentMap.from(file.ended_agents.map((agent) => [agent.id, thawEnded(agent)])),
    forkCounters: PersistentMap.from(Object.entries(file.fork_counters)),
    workflowFiles: PersistentMap.from(Object.entries(file.workflow_files ?? {})),
    tally: tallyOf(agents),
    removals: file.ended_agents.filter(({ worktree }) => worktree?.fate === 'removing').length,
    iterations: file.iteration_count,
    totalCostUsd: file.total_cost_usd,
    dearestTurnUsd: file.dearest_turn_usd ?? undefined,
    limitedUntil: file.limited_until ?? undefined,
    result: file.result ?? undefined,
  };
}

const text = z.string();
const variables = z.readonly(z.record(text, text));
/** Accepts every date, including years with more than four digits. */
const time = z.string().check(z.refine((written) => !Number.isNaN(Date.parse(written))));

const agentStatusSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), task: taskSchema }),
  z.object({
    kind: z.literal('running'),
    task: taskSchema,
    step: z.number(),
    state: stateNameSchema,
    startedAt: z.number(),
    session: z.nullable(sessionUseSchema),
    executor: z.nullable(text),
    worker: z.nullable(text),
  }),
  z.object({ kind: z.literal('deciding'), task: taskSchema, failure: z.nullable(failureSchema) }),
  z.object({
    kind: z.literal('waiting'),
    task: taskSchema,
    until: z.number(),
    failure: failureSchema,
  }),
  z.object({
    kind: z.literal('asking'),
    question: text,
    askedAt: z.number(),
    next: stateNameSchema,
    deadline: z.nullable(z.number()),
    timeoutNext: z.nullable(stateNameSchema),
  }),
  z.object({
    kind: z.literal('joining'),
    join: joinSchema,
    since: z.number(),
    open: z.number(),
    successes: z.number(),
    closed: z.nullable(joinEndSchema),
    stopping: z.number(),
  }),
  z.object({
    kind: z.literal('failed'),
    task: taskSchema,
    failure: failureSchema,
    join: z.optional(joinSchema),
  }),
]);

const agentSchema = z.object({
  id: text,
  /** The agent that forked it. Null for the first agent. */
  parent: z.nullable(text),
  current_state: stateNameSchema,
  session_id: z.nullable(text),
  /** The session from which the next turn branches. The agent then has no own session. */
  branch_of: z.nullable(text),
  stack: z.array(
    z.object({
      session: z.nullable(text),
      branch_of: z.nullable(text),
      state: stateNameSchema,
      scope_dir: text,
      workflow: text,
      cwd: text,
    }),
  ),
  cwd: text,
  worktree: z.optional(worktreeSchema),
  fork_attributes: variables,
  scope_dir: text,
  workflow: text,
  input: z.nullable(text),
  choices: variables,
  visits: z.readonly(z.record(text, z.number())),
  /** The digests of entries into states that compare them; absent if none does. */
  entries: z.optional(z.readonly(z.record(text, z.readonly(z.array(text))))),
  entered: z.optional(text),
  steps: z.number(),
  attempts: z.number(),
  retries: z.number(),
  previous_try: z.nullable(z.number()),
  cost_usd: z.number(),
  /** Its workers whose end no join has reported. Absent in files of earlier versions. */
  workers: z.optional(z.readonly(z.array(text))),
  /** The workers whose results the current state receives. */
  joined: z.optional(z.readonly(z.array(text))),
  /** The agent whose join stops the running step. */
  stopped_by: z.optional(text),
  status: agentStatusSchema,
});

const endedAgentSchema = z.object({
  id: text,
  parent: z.nullable(text),
  workflow: text,
  state: stateNameSchema,
  /** Absent in files of earlier versions: the agent gave a result. */
  status: z.optional(z.enum(['ended', 'failed', 'stopped'])),
  result: z.nullable(text),
  failure: z.optional(z.nullable(failureSchema)),
  fork_attributes: z.optional(variables),
  ended_at: time,
  steps: z.number(),
  cost_usd: z.number(),
  worktree: z.optional(endedWorktreeSchema),
});

export const stateFileSchema = z.object({
  workflow_id: text,
  /** The newest event that is reflected here. */
  seq: z.int().check(z.nonnegative()),
  /** The folder, archive or file whose states these are. */
  scope_dir: text,
  /** As the user named it, possibly with the state at which it begins. */
  workflow: text,
  status: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('active') }),
    z.object({ kind: z.literal('stopping'), how: stopHowSchema, why: stopWhySchema }),
    z.object({ kind: z.literal('ended'), outcome: runOutcomeSchema }),
  ]),
  started_at: time,
  updated_at: time,
  /** Absent in files of earlier versions. */
  worked_ms: z.optional(z.number()),
  iteration_count: z.number(),
  max_iterations: z.number(),
  total_cost_usd: z.number(),
  budget_usd: z.number(),
  agents: z.array(agentSchema),
  fork_counters: z.record(text, z.number()),
  /** Absent in files of earlier versions. */
  workflow_files: z.optional(z.record(text, variables)),
  metadata: variables,
  cwd: text,
  settings: settingsSchema,
  dearest_turn_usd: z.nullable(z.number()),
  limited_until: z.nullable(z.number()),
  result: z.nullable(text),
  ended_agents: z.array(endedAgentSchema),
});

type FrozenAgent = z.infer<typeof agentSchema>;

function freezeAgent(agent: Agent): FrozenAgent {
  return alsoFlat(agent.choices, {
    id: agent.id,
    parent: agent.parent ?? null,
    current_state: agent.state,
    session_id: openId(agent.session),
    branch_of: branchOf(agent.session),
    stack: agent.stack.map(({ session, state, workflow, cwd }) => ({
      session: openId(session),
      branch_of: branchOf(session),
      state,
      scope_dir: scopeOf(workflow),
      workflow,
      cwd,
    })),
    cwd: agent.cwd,
    ...(agent.worktree && { worktree: freezeWorktree(agent.worktree) }),
    fork_attributes: agent.variables,
    scope_dir: scopeOf(agent.workflow),
    workflow: agent.workflow,
    input: agent.input ?? null,
    choices: agent.choices,
    visits: agent.visits,
    ...(Object.keys(agent.entries).length > 0 && { entries: agent.entries }),
    ...(agent.entered !== undefined && { entered: agent.entered }),
    steps: agent.steps,
    attempts: agent.attempts,
    retries: agent.retries,
    previous_try: agent.previousTry ?? null,
    cost_usd: agent.costUsd,
    ...(agent.workers.length > 0 && { workers: agent.workers }),
    ...(agent.joined && { joined: agent.joined }),
    ...(agent.stoppedBy !== undefined && { stopped_by: agent.stoppedBy }),
    status: freezeStatus(agent.status),
  });
}

/** Repeats the choices for an agent where version 1 had them, for programs that read state files. */
function alsoFlat<T extends object>(choices: Choices, frozen: T): T {
  return { ...choices, ...frozen };
}

function thawAgent(frozen: FrozenAgent): Agent {
  return {
    id: frozen.id,
    parent: frozen.parent ?? undefined,
    workflow: frozen.workflow,
    state: frozen.current_state,
    session: toSession(frozen.session_id, frozen.branch_of),
    cwd: frozen.cwd,
    worktree: frozen.worktree && thawWorktree(frozen.worktree),
    stack: frozen.stack.map((frame) => ({
      state: frame.state,
      workflow: frame.workflow,
      session: toSession(frame.session, frame.branch_of),
      cwd: frame.cwd,
    })),
    variables: frozen.fork_attributes,
    input: frozen.input ?? undefined,
    choices: frozen.choices,
    visits: frozen.visits,
    entries: frozen.entries ?? {},
    entered: frozen.entered,
    steps: frozen.steps,
    attempts: frozen.attempts,
    retries: frozen.retries,
    previousTry: frozen.previous_try ?? undefined,
    costUsd: frozen.cost_usd,
    workers: frozen.workers ?? [],
    joined: frozen.joined,
    stoppedBy: frozen.stopped_by,
    status: thawStatus(frozen.status),
  };
}

function thawEnded(frozen: z.infer<typeof endedAgentSchema>): EndedAgent {
  return {
    at: Date.parse(frozen.ended_at),
    parent: frozen.parent ?? undefined,
    workflow: frozen.workflow,
    state: frozen.state,
    variables: frozen.fork_attributes ?? {},
    end: endOf(frozen),
    steps: frozen.steps,
    costUsd: frozen.cost_usd,
    worktree: frozen.worktree && thawEndedWorktree(frozen.worktree),
  };
}

function endOf({ status, result, failure }: z.infer<typeof endedAgentSchema>): AgentEnd {
  if (status === 'stopped') return { kind: 'stopped' };
  return failure ? { kind: 'failed', failure } : { kind: 'ended', result: result ?? '' };
}

/** JSON has no `undefined`, so an absent value is null in the file. */
function freezeStatus(status: AgentStatus): FrozenAgent['status'] {
  switch (status.kind) {
    case 'running':
      return {
        ...status,
        session: status.session ?? null,
        executor: status.executor ?? null,
        worker: status.worker ?? null,
      };
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

function thawStatus(status: FrozenAgent['status']): AgentStatus {
  switch (status.kind) {
    case 'running':
      return {
        ...status,
        session: status.session ?? undefined,
        executor: status.executor ?? undefined,
        worker: status.worker ?? undefined,
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

/** The ref of a workflow that begins at a named state ends with the file of that state. */
function scopeOf(workflow: string): string {
  return isStateFile(basename(workflow)) ? dirname(workflow) : workflow;
}

const openId = (session: Session) => (session.kind === 'open' ? session.id : null);
const branchOf = (session: Session) => (session.kind === 'branch' ? session.from : null);

function toSession(id: string | null, from: string | null): Session {
  if (id !== null) return { kind: 'open', id };
  return from === null ? { kind: 'none' } : { kind: 'branch', from };
}

const iso = (ms: number) => new Date(ms).toISOString();
