/** The form of a run as readable JSON: the state file in `.raymond/state`, and the journal's snapshots. */
import * as z from 'zod/mini';
import {
  approvalSchema,
  joinEndSchema,
  joinSchema,
  keptFilesSchema,
  laneReasonSchema,
  sessionUseSchema,
  signedSchema,
  stepLaneSchema,
  taskSchema,
  wordsSchema,
} from '../model/agent-state.ts';
import {
  cellSchema,
  originSchema,
  restorationSchema,
  runOutcomeSchema,
  settingsSchema,
  stopHowSchema,
  stopWhySchema,
} from '../model/event.ts';
import { failureSchema } from '../model/failure.ts';
import { lessonSchema, notesAccessSchema, notesSchema } from '../model/notes.ts';
import { decisionSchema, permissionRequestSchema } from '../model/permission.ts';
import { stepRightsSchema } from '../model/rights.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { startedBySchema } from '../model/trigger-schema.ts';
import { worktreeLookSchema } from '../model/worktree.ts';

const text = z.string();
const variables = z.readonly(z.record(text, text));
/** Accepts every date, including years with more than four digits. */
const time = z.string().check(z.refine((written) => !Number.isNaN(Date.parse(written))));

/** Present if part of a cost was computed from a price table. */
const isEstimate = z.optional(z.literal(true));

const worktreeSchema = z.object({
  branch: text,
  /** Null in a rehearsal, which creates no worktrees. */
  path: z.nullable(text),
  base: z.nullable(text),
  repository: z.nullable(text),
  /** At the end of the newest step. */
  look: z.nullable(worktreeLookSchema),
  was_seen: z.boolean(),
});

const endedWorktreeSchema = z.extend(worktreeSchema, {
  fate: z.enum(['removing', 'removed', 'kept']),
});

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
    /** Only for states with several lanes. */
    lane: z.optional(stepLaneSchema),
    worker: z.nullable(text),
    /** It waits in a queue until a worker takes it; absent otherwise. */
    isQueued: z.optional(z.literal(true)),
    /** The part of the budget that is reserved for the turn; absent without a budget. */
    reservedUsd: z.optional(z.number()),
    /** The rights with which it began; absent if it is not confined. */
    rights: z.optional(stepRightsSchema),
    /** What it may do with the notes, and the sha256 of each at its start; absent if it does not get them. */
    notes: z.optional(z.object({ may: notesAccessSchema, seen: variables })),
    /** Permission requests that wait for a person; absent if there are none. */
    requests: z.optional(
      z.readonly(z.array(z.extend(permissionRequestSchema, { askedAt: z.number() }))),
    ),
    decided: z.optional(z.readonly(z.array(z.extend(decisionSchema, { request: text })))),
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
    approval: z.optional(approvalSchema),
    signed: z.optional(z.readonly(z.array(signedSchema))),
    files: z.optional(keptFilesSchema),
    accept: z.optional(z.readonly(z.array(text))),
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

const sessionParts = {
  /** The executor to which the session belongs. */
  session_executor: z.optional(text),
  /** The lane that began it, if its state has several. */
  session_lane: z.optional(text),
  /** The size of the session, if it is known. */
  session_tokens: z.optional(z.int().check(z.nonnegative())),
  /** Without a session: the text with which the next one begins. */
  handover: z.optional(text),
};

const agentSchema = z.object({
  id: text,
  /** The agent that forked it. Null for the first agent. */
  parent: z.nullable(text),
  current_state: stateNameSchema,
  session_id: z.nullable(text),
  /** The session from which the next turn branches. The agent then has no own session. */
  branch_of: z.nullable(text),
  /** The message after which the history of that session is cut off; absent for all of it. */
  branch_at: z.optional(text),
  ...sessionParts,
  stack: z.array(
    z.object({
      session: z.nullable(text),
      branch_of: z.nullable(text),
      branch_at: z.optional(text),
      ...sessionParts,
      state: stateNameSchema,
      scope_dir: text,
      workflow: text,
      cwd: text,
    }),
  ),
  cwd: text,
  worktree: z.optional(worktreeSchema),
  fork_attributes: variables,
  /** The fork attributes that are not in the environment; absent if all are. */
  withheld: z.optional(z.readonly(z.array(text))),
  scope_dir: text,
  workflow: text,
  input: z.nullable(text),
  /** The placeholders of the state that a model has filled. */
  filled: z.optional(variables),
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
  cost_is_estimate: isEstimate,
  /** Its children whose end no join has reported. Absent in files of earlier versions. */
  workers: z.optional(z.readonly(z.array(text))),
  /** The children whose results the current state receives. */
  joined: z.optional(z.readonly(z.array(text))),
  /** The files that came with the answer which the current state receives. */
  answer_files: z.optional(keptFilesSchema),
  /** The words of people that it does not have for certain. */
  words: z.optional(z.readonly(z.array(wordsSchema))),
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
  status: z.optional(z.enum(['ended', 'failed', 'stopped', 'rewound'])),
  result: z.nullable(text),
  /** The result fits a schema, so it is JSON. */
  result_checked: z.optional(z.literal(true)),
  failure: z.optional(z.nullable(failureSchema)),
  fork_attributes: z.optional(variables),
  ended_at: time,
  steps: z.number(),
  cost_usd: z.number(),
  cost_is_estimate: isEstimate,
  worktree: z.optional(endedWorktreeSchema),
  /** What people said to it and it never heard; absent if there is nothing. */
  words: z.optional(z.readonly(z.array(wordsSchema))),
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
  cost_is_estimate: isEstimate,
  budget_usd: z.number(),
  agents: z.array(agentSchema),
  fork_counters: z.record(text, z.number()),
  /** Absent in files of earlier versions. */
  workflow_files: z.optional(z.record(text, variables)),
  metadata: variables,
  /** What the run was started with. Absent without an input, and in files of earlier versions. */
  input: z.optional(text),
  /** Absent if a person started the run. */
  startedBy: z.optional(startedBySchema),
  /** Only for a variant of another run. */
  origin: z.optional(originSchema),
  /** Only for a run of an eval. */
  cell: z.optional(cellSchema),
  cwd: text,
  settings: settingsSchema,
  dearest_turn_usd: z.nullable(z.number()),
  /** The highest known cost of a turn, by workflow and state; absent if none is known. */
  turn_costs_usd: z.optional(z.record(text, z.number())),
  /** The last end of all limits. */
  limited_until: z.nullable(z.number()),
  /** The ends of the limits by executor; absent if none names its executor. */
  limits: z.optional(z.record(text, z.number())),
  /** The lanes that take no new sessions while others are available; absent if there are none. */
  closed_lanes: z.optional(z.record(text, z.object({ why: laneReasonSchema, until: z.number() }))),
  result: z.nullable(text),
  /** The ids of the words of people, with the numbers of their events; absent if there are none. */
  said: z.optional(z.record(text, z.int().check(z.nonnegative()))),
  /** What its agents have noted, by path; absent if there is nothing. */
  notes: z.optional(notesSchema),
  /** The lessons of earlier runs that it has got; absent if there are none. */
  lessons: z.optional(z.array(lessonSchema)),
  /** The files that a rewind has not restored yet; absent if there are none. */
  restoring: z.optional(z.array(restorationSchema)),
  ended_agents: z.array(endedAgentSchema),
});

export type StateFile = z.infer<typeof stateFileSchema>;
export type FrozenAgent = StateFile['agents'][number];
export type FrozenEndedAgent = StateFile['ended_agents'][number];
export type FrozenWorktree = z.infer<typeof worktreeSchema>;
export type FrozenEndedWorktree = z.infer<typeof endedWorktreeSchema>;
