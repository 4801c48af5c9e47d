/**
 * INV-1: An event is a decision with everything resolved, so a replay never decides again.
 *
 * The one vocabulary: Raymond decides, journals, replays, shows and streams events. A run is the
 * fold of its events. Names, directories and ids are resolved. Times are in ms since the epoch.
 *
 * The schema is the definition: the types, the check of every journal line and the published JSON
 * Schema all come from it. A change that old journals would not pass needs a new JOURNAL_VERSION,
 * and a function in `journal/upcast.ts` that upgrades the older lines.
 */
import * as z from 'zod/mini';
import {
  agentStateSchema,
  approvalSchema,
  childStatusSchema,
  endedAgentStateSchema,
  type frameSchema,
  joinEndSchema,
  joinSchema,
  keptFilesSchema,
  laneReasonSchema,
  sessionSchema,
  sessionUseSchema,
  signatureSchema,
  stackChangeSchema,
  stepLaneSchema,
  tagSchema,
  taskKindSchema,
  type taskSchema,
} from './agent-state.ts';
import { failureSchema } from './failure.ts';
import { lessonSchema, notesAccessSchema, notesSchema } from './notes.ts';
import { decisionSchema, permissionRequestSchema } from './permission.ts';
import { rightsSchema, stepRightsSchema } from './rights.ts';
import { stateNameSchema } from './state-name.ts';
import { accountSchema, answerRefSchema } from './step-account.ts';
import { TRANSITION_TAGS } from './tag.ts';
import { startedBySchema } from './trigger-schema.ts';
import { worktreeLookSchema, worktreeSchema } from './worktree.ts';

export const JOURNAL_VERSION = 3;

const text = z.string();
const count = z.int().check(z.nonnegative());
/** In ms since the epoch, within the range of a date. */
const time = z.int().check(z.nonnegative(), z.lte(8.64e15));
const usd = z.number().check(z.nonnegative());
const variables = z.readonly(z.record(text, text));
const choices = z.readonly(z.record(text, z.union([text, z.boolean(), z.readonly(z.array(text))])));
const stateName = stateNameSchema;

/** The choices of a user for a run. They are kept so that a resume follows the same rules. */
export const settingsSchema = z.object({
  /** 0 is unlimited. */
  budgetUsd: usd,
  /** 0 is unlimited. */
  maxIterations: count,
  /**
   * The choices for the agents that take the prompts. Only the executor of an agent knows their
   * meaning.
   */
  agent: choices,
  /** 0 is none. */
  idleTimeoutMs: count,
  maxParallelPrompts: count,
  maxParallelScripts: count,
  /** The largest number of agents, including ended ones; absent means the default. */
  maxAgents: z.optional(count),
  /** The largest number of frames in a stack; absent means the default. */
  maxDepth: z.optional(count),
  /** The size of the files of a question or an answer in MiB; absent means the default. */
  maxFilesMib: z.optional(count),
  failFast: z.boolean(),
  wait: z.boolean(),
  warm: z.boolean(),
  /** The steps around which files are recorded; absent means prompts and long scripts. */
  checkpoints: z.optional(z.enum(['prompts', 'steps', 'none'])),
  /** A rehearsing agent answers the prompts. A resume continues the rehearsal. */
  rehearse: z.optional(z.boolean()),
  /** In a rehearsal: scripts are executed too. */
  rehearseScripts: z.optional(z.boolean()),
  /** The file with its answers, if it is not the rehearsal.yaml of the workflow. */
  rehearsalFile: z.optional(text),
  /** The pauses before retries of a failed step, if they are not the default ones. */
  retryPausesMs: z.optional(z.readonly(z.array(count))),
  /** Tool calls that an agent may not make on its own wait for a person's decision. */
  askPermissions: z.optional(z.boolean()),
  /** The rules of the executor that people have allowed for the whole run. */
  granted: z.optional(z.readonly(z.array(text))),
  /** The rights of the user, widest first; `off` if the user has switched off all rights. */
  rights: z.optional(z.union([z.literal('off'), z.readonly(z.array(rightsSchema))])),
  /** The rights of the workflow do not apply: the run records what its steps change and reach. */
  learnRights: z.optional(z.boolean()),
});

export const stopHowSchema = z.enum(['drain', 'now']);
export const stopWhySchema = z.enum([
  'person',
  'failure',
  'budget',
  'iterations',
  'usage-limit',
  'shutdown',
]);
export const runOutcomeSchema = z.enum([
  'completed',
  'failed',
  'waiting',
  'paused',
  'interrupted',
  'stopped: budget',
  'stopped: iterations',
  'stopped: shutdown',
]);

const at = { at: time };
const byAgent = { ...at, agent: text };
const byStep = { ...byAgent, step: count };
/** For an agent with a worktree; absent if it could not be inspected. */
const looked = { worktree: z.optional(worktreeLookSchema) };
/** The fate of the worktree of an agent that is over, if it has one. */
const fate = { worktree: z.optional(z.enum(['kept', 'removing'])) };

/** A variant of another run: where it branched off, and what it changes. */
export const originSchema = z.object({
  run: text,
  /** A later run can have the same id. */
  startedAt: time,
  /** The variant began at the moment before this step. */
  agent: text,
  step: count,
  /** What differs from that run, by the names of options; empty for a repetition. */
  changes: variables,
  /** Counts the repetitions of the same changes from 1. */
  number: count,
});

/** A run that an eval has begun: a case under a variant, or a score of such a run. */
export const cellSchema = z.object({
  /** The file of the eval. */
  eval: text,
  case: text,
  /** Empty for the workflow as it is. */
  variant: text,
  /** Counts the repetitions from 1. */
  number: count,
  /** Stands for everything that decides what comes of it. */
  key: text,
  /** What differs from the workflow as it is, by the names of options. */
  changes: variables,
  /** Only for a score: the scorer, and the run that it scores. */
  scores: z.optional(z.object({ scorer: text, run: text })),
});

/** The agents with which a variant begins, in place of one at the entry of the workflow. */
export const beginningSchema = z.object({
  agents: z.readonly(z.array(agentStateSchema)),
  ended: z.readonly(z.array(endedAgentStateSchema)),
  forkCounters: z.readonly(z.record(text, count)),
  /** The first agent's result, if it had one. */
  result: z.optional(text),
  /** The notes of the run; absent if there are none. */
  notes: z.optional(notesSchema),
});

/** Restores the stored files of a working tree. */
export const restorationSchema = z.object({
  root: text,
  /** The stored present files, which make it possible to undo the rewind. */
  before: text,
  tree: text,
});

export const runEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run-started'),
    version: z.literal(JOURNAL_VERSION),
    ...at,
    run: text,
    workflow: text,
    state: stateName,
    cwd: text,
    settings: settingsSchema,
    metadata: variables,
    input: z.optional(text),
    /** What a turn of each state of the workflow usually cost in finished runs, if that is known. */
    usualTurnsUsd: z.optional(z.readonly(z.record(text, usd))),
    /** The most that it can use without failures; without `prompts`, they have no limit. */
    bound: z.optional(z.object({ prompts: z.optional(count), agents: count })),
    /** The occasion that started the run, if no person did. */
    startedBy: z.optional(startedBySchema),
    /** What people have kept of earlier runs of the workflow; absent if there is nothing. */
    lessons: z.optional(z.readonly(z.array(lessonSchema))),
    /** Only for a variant of another run. */
    origin: z.optional(originSchema),
    /** Only for a run of an eval. */
    cell: z.optional(cellSchema),
    beginning: z.optional(beginningSchema),
  }),
  z.object({
    type: z.literal('run-resumed'),
    ...at,
    settings: settingsSchema,
    /** Replaces the pending value of the agents that had failed. */
    input: z.optional(text),
    /** Failed agents start their state in a new session. */
    fresh: z.optional(z.boolean()),
  }),
  z.object({
    type: z.literal('workflow-read'),
    ...at,
    workflow: text,
    /** The sha256 of each file, by name. */
    files: variables,
  }),
  z.object({
    type: z.literal('step-started'),
    ...byStep,
    attempt: count,
    state: stateName,
    task: taskKindSchema,
    /** Present for prompts, absent for scripts. */
    session: z.optional(sessionUseSchema),
    /** The name of the executor that takes the step. Absent in version 1. */
    executor: z.optional(text),
    /** Only for states with several lanes. */
    lane: z.optional(stepLaneSchema),
    /** The process that takes the step, if several can: its host and pid, or another name. */
    worker: z.optional(text),
    /** It waits in a queue until a worker takes it: see `step-taken`. */
    queued: z.optional(z.literal(true)),
    /** The part of the remaining budget that is reserved for this turn; absent without a budget. */
    reservedUsd: z.optional(usd),
    /** What it may touch; absent if it is not confined. */
    rights: z.optional(stepRightsSchema),
    /** The ids of the words of people that stand in front of its prompt. */
    words: z.optional(z.readonly(z.array(text))),
    /** What it may do with the notes of the run; absent if it does not get them. */
    notes: z.optional(notesAccessSchema),
  }),
  /** A worker begins a step that waited in a queue. */
  z.object({ type: z.literal('step-taken'), ...byStep, worker: text }),
  /** Only for states that compare their entries. */
  z.object({
    type: z.literal('state-entered'),
    ...byStep,
    /** Stands for the input and the content of the working tree at the entry. */
    digest: text,
  }),
  /** The files before the step are stored. Only for steps whose files are recorded. */
  z.object({
    type: z.literal('files-recorded'),
    ...byStep,
    /** The id of the stored files of the step's directory. */
    tree: text,
  }),
  z.object({
    type: z.literal('step-ended'),
    ...byStep,
    ...accountSchema.shape,
    ...looked,
    /** Absent in version 1. */
    answer: z.optional(answerRefSchema),
    /** The exit code of a check. */
    exit: z.optional(count),
    denied: z.readonly(z.array(text)),
  }),
  z.object({
    type: z.literal('step-failed'),
    ...byStep,
    ...accountSchema.shape,
    ...looked,
    failure: failureSchema,
  }),
  z.object({
    type: z.literal('step-interrupted'),
    ...byStep,
    ...accountSchema.shape,
    ...looked,
    /** Whether the step's session continues, or its state begins again. */
    repeat: z.enum(['continue', 'restart']),
  }),
  z.object({
    type: z.literal('agent-moved'),
    ...byAgent,
    tag: z.enum(TRANSITION_TAGS),
    state: stateName,
    workflow: text,
    session: sessionSchema,
    cwd: text,
    stack: stackChangeSchema,
    input: z.optional(text),
    /** For the agent of the state, and for this state only. */
    choices: z.optional(variables),
  }),
  z.object({
    type: z.literal('agent-forked'),
    ...byAgent,
    parent: text,
    counter: count,
    state: stateName,
    workflow: text,
    cwd: text,
    variables,
    /** The variables that are left out of the environment. */
    withheld: z.optional(z.readonly(z.array(text))),
    input: z.optional(text),
    worktree: z.optional(worktreeSchema),
  }),
  z.object({
    type: z.literal('agent-asked'),
    ...byAgent,
    question: text,
    next: stateName,
    deadline: z.optional(time),
    timeoutNext: z.optional(stateName),
    /** Only signatures answer it. */
    approval: z.optional(approvalSchema),
    /** Shown with the question; absent if there are none. */
    files: z.optional(keptFilesSchema),
    /** The endings of the files that an answer may bring; absent if all may come. */
    accept: z.optional(z.readonly(z.array(text))),
  }),
  /** A person has signed an answer. It counts when enough people have signed the same one. */
  z.object({ type: z.literal('answer-signed'), ...byAgent, text, ...signatureSchema.shape }),
  /** `by` is `code` for an answer that came with a one-time code, or the names of those who signed it. */
  z.object({
    type: z.literal('agent-answered'),
    ...byAgent,
    text,
    by: z.optional(text),
    /** That came with the answer; absent if none did. */
    files: z.optional(keptFilesSchema),
  }),
  z.object({ type: z.literal('question-timed-out'), ...byAgent }),
  /** A person says something to an agent. Its next prompt has the words, unless it hears them before. */
  z.object({
    type: z.literal('words-said'),
    ...byAgent,
    /** Their id. */
    words: text,
    text,
    /** Who said it, if it is known. */
    by: z.optional(text),
    /** The running step, if its agent takes words during a turn. */
    step: z.optional(count),
  }),
  /** The model has got the words during the turn. */
  z.object({ type: z.literal('words-heard'), ...byStep, words: text }),
  /** A tool call of the running step waits for a person's decision. */
  z.object({
    type: z.literal('permission-asked'),
    ...byStep,
    ...permissionRequestSchema.shape,
  }),
  z.object({
    type: z.literal('permission-answered'),
    ...byStep,
    request: text,
    ...decisionSchema.shape,
    /** With `allow-run`: the rules that are granted to the run. */
    rules: z.optional(z.readonly(z.array(text))),
    /** The rule of the run that decided in place of a person, who usually was not asked at all. */
    rule: z.optional(text),
    /** Who decided, if it is known. */
    by: z.optional(text),
  }),
  /** The agent no longer wants the decision. */
  z.object({ type: z.literal('permission-withdrawn'), ...byStep, request: text }),
  z.object({
    type: z.literal('agent-reminded'),
    ...byAgent,
    number: count,
    failure: failureSchema,
    text,
    /** The session of a judge. It is not the session of the agent. */
    session: z.optional(text),
    /** The executor and the lane to which that session belongs. */
    executor: z.optional(text),
    lane: z.optional(text),
    /** The failed check that the reminder is about. */
    ensure: z.optional(count),
  }),
  /** A command of `ensures` will be executed. */
  z.object({
    type: z.literal('check-called'),
    ...byAgent,
    ensure: count,
    run: text,
    tags: z.readonly(z.array(tagSchema)),
  }),
  z.object({
    type: z.literal('judge-called'),
    ...byAgent,
    evaluator: count,
    output: text,
    tags: z.readonly(z.array(tagSchema)),
  }),
  /** The agent is asked what its next session must know, and then goes on to `state` in that session. */
  z.object({
    type: z.literal('handover-called'),
    ...byAgent,
    tag: z.enum(TRANSITION_TAGS),
    state: stateName,
    input: z.optional(text),
    /** Present if the session was larger than its limit: its size. */
    tokens: z.optional(count),
  }),
  /** A model has filled the placeholders of the state's prompt that had no value. */
  z.object({ type: z.literal('prompt-filled'), ...byAgent, values: variables }),
  z.object({
    type: z.literal('transition-overridden'),
    ...byAgent,
    /** The index of the evaluator, or of the check. */
    evaluator: count,
    by: z.enum(['matches', 'visits', 'cost', 'unchanged', 'prompt', 'ensures']),
    written: z.readonly(z.array(tagSchema)),
    taken: tagSchema,
  }),
  z.object({ type: z.literal('join-started'), ...byAgent, ...joinSchema.shape }),
  /** The wait is over. The remaining children are stopped before the report. */
  z.object({ type: z.literal('join-closed'), ...byAgent, why: joinEndSchema }),
  z.object({
    type: z.literal('join-reported'),
    ...byAgent,
    why: joinEndSchema,
    state: stateName,
    /** In the order of their forks. Those that do not run are over: no other join reports them. */
    workers: z.readonly(z.array(z.object({ agent: text, status: childStatusSchema }))),
    /** The JSON array of the results. */
    input: text,
  }),
  /** The agent's running step is stopped, for the join of the agent `by`. */
  z.object({ type: z.literal('agent-stop-requested'), ...byAgent, by: text }),
  z.object({ type: z.literal('agent-stopped'), ...byAgent, by: text, ...fate }),
  z.object({ type: z.literal('agent-waits'), ...byAgent, until: time }),
  z.object({ type: z.literal('agent-woke'), ...byAgent }),
  z.object({ type: z.literal('agent-failed'), ...byAgent, failure: failureSchema }),
  z.object({
    type: z.literal('agent-ended'),
    ...byAgent,
    result: text,
    /** The result fits the schema of its policy, so it is JSON. */
    checked: z.optional(z.literal(true)),
    ...fate,
  }),
  z.object({
    type: z.literal('worktree-settled'),
    ...byAgent,
    /** Why the worktree was not removed; absent if it was. */
    kept: z.optional(text),
  }),
  z.object({
    type: z.literal('usage-limited'),
    ...byAgent,
    until: time,
    /**
     * The executor whose prompts wait, or one lane of it, like `claude opus`. Absent in older journals:
     * all prompts wait.
     */
    executor: z.optional(text),
    /** The lane that takes the prompt now. Absent if the agent waits. */
    next: z.optional(text),
    /**
     * Another reason than a usage limit. Then only new sessions in states with several lanes avoid the
     * executor.
     */
    why: z.optional(laneReasonSchema),
  }),
  z.object({ type: z.literal('usage-limit-lifted'), ...at, executor: z.optional(text) }),
  z.object({
    type: z.literal('stop-requested'),
    ...at,
    /** drain: running steps may finish. now: they are stopped. */
    how: stopHowSchema,
    why: stopWhySchema,
  }),
  z.object({
    type: z.literal('run-ended'),
    ...at,
    outcome: runOutcomeSchema,
  }),
  /**
   * Some agents go back to an earlier moment. Money stays spent, and numbers of steps and names of
   * agents are not used again.
   */
  z.object({
    type: z.literal('run-rewound'),
    ...at,
    /** The step that the agents return to; absent if a rewind is undone. */
    to: z.optional(z.object({ agent: text, step: count })),
    /** The number of the rewind event that is undone. */
    undoes: z.optional(count),
    /** The agents that continue from that moment. */
    agents: z.readonly(z.array(agentStateSchema)),
    /** The agents that were over at the moment, and are over again. */
    ended: z.readonly(z.array(endedAgentStateSchema)),
    /** The agents that did not exist at the moment. */
    gone: z.readonly(z.array(text)),
    /** The steps after the moment. They no longer count, but stay readable. */
    abandoned: z.readonly(z.array(z.object({ agent: text, first: count, last: count }))),
    /** What they cost. */
    costUsd: usd,
    /** Part of that cost was computed from a price table. */
    isPriced: z.optional(z.literal(true)),
    outcome: runOutcomeSchema,
    /** The first agent's result, if it had one at the moment. */
    result: z.optional(text),
    /** All notes after the rewind; absent if the run has none. */
    notes: z.optional(notesSchema),
    /** The files that go back; empty if files are left alone. */
    files: z.readonly(z.array(restorationSchema)),
  }),
  /** All files have gone back after a rewind. */
  z.object({ type: z.literal('files-restored'), ...at }),
]);

export type RunEvent = z.infer<typeof runEventSchema>;
/** An event with its place in the journal: `seq` counts from 1. */
export type JournaledEvent = RunEvent & { readonly seq: number };
export type RunEventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;
/** The events that end a step. */
export type StepEndEvent = RunEventOf<'step-ended' | 'step-failed' | 'step-interrupted'>;
export type Session = z.infer<typeof sessionSchema>;
export type SessionUse = z.infer<typeof sessionUseSchema>;
export type Frame = z.infer<typeof frameSchema>;
export type StackChange = z.infer<typeof stackChangeSchema>;
export type Join = z.infer<typeof joinSchema>;
export type JoinOf = Join['of'];
export type JoinRest = NonNullable<Join['rest']>;
export type JoinEnd = z.infer<typeof joinEndSchema>;
export type ChildStatus = z.infer<typeof childStatusSchema>;
export type StepLane = z.infer<typeof stepLaneSchema>;
export type LaneReason = z.infer<typeof laneReasonSchema>;
export type Task = z.infer<typeof taskSchema>;
export type Restoration = z.infer<typeof restorationSchema>;
export type Origin = z.infer<typeof originSchema>;
export type Cell = z.infer<typeof cellSchema>;
export type Beginning = z.infer<typeof beginningSchema>;
export type Settings = z.infer<typeof settingsSchema>;
export type RunOutcome = RunEventOf<'run-ended'>['outcome'];
export type StopReason = RunEventOf<'stop-requested'>['why'];
