/** The parts of an agent in events and in stored runs. */
import * as z from 'zod/mini';
import { failureSchema } from './failure.ts';
import { stateNameSchema } from './state-name.ts';
import { TRANSITION_TAGS } from './tag.ts';
import { worktreeLookSchema, worktreeSchema } from './worktree.ts';

const text = z.string();
const count = z.int().check(z.nonnegative());
/** In ms since the epoch, within the range of a date. */
const time = z.int().check(z.nonnegative(), z.lte(8.64e15));
const variables = z.readonly(z.record(text, text));
const texts = z.readonly(z.array(text));
const stateName = stateNameSchema;

/** How many people must sign the same answer to a question, and the name of the list that they are on. */
export const approvalSchema = z.object({ of: z.int().check(z.gte(1)), to: text });
export type Approval = z.infer<typeof approvalSchema>;

/** A checked signature: the person, the fingerprint of the key, and the signature itself. */
export const signatureSchema = z.object({ by: text, key: text, signature: text });
export type Signature = z.infer<typeof signatureSchema>;

/** An answer that a person has signed. */
export const signedSchema = z.object({ by: text, key: text, text });
export type Signed = z.infer<typeof signedSchema>;

/** A file that a question shows, or that came with an answer. The run keeps its content. */
export const keptFileSchema = z.object({
  /** For a question: the path as it was written. For an answer: the name in the agent's folder. */
  name: text,
  bytes: count,
  sha256: text,
});
export const keptFilesSchema = z.readonly(z.array(keptFileSchema));
export type KeptFile = z.infer<typeof keptFileSchema>;

/** Why a lane does not take a prompt: the kinds of failures after which `recover` chooses another one. */
export const laneReasonSchema = z.enum(['usage-limit', 'overloaded', 'not-logged-in']);

/**
 * The session from which an agent's next turn takes its memory. It belongs to the executor that
 * began it; `executor` is absent in journals of older versions.
 */
export const sessionSchema = z.discriminatedUnion('kind', [
  /** `handover` is the text with which the next session begins. */
  z.object({ kind: z.literal('none'), handover: z.optional(text) }),
  /** `tokens` is the size of its history, if the executor reports it. */
  z.object({
    kind: z.literal('open'),
    id: text,
    executor: z.optional(text),
    /** The lane that began it, if its state has several. */
    lane: z.optional(text),
    tokens: z.optional(count),
  }),
  /** `at` is the message after which the history is cut off; absent for the whole history. */
  z.object({
    kind: z.literal('branch'),
    from: text,
    at: z.optional(text),
    executor: z.optional(text),
    lane: z.optional(text),
    tokens: z.optional(count),
  }),
]);

/** The lane that takes a step of a state with several lanes. */
export const stepLaneSchema = z.object({
  agent: text,
  /** The choices that distinguish it from the other lanes of that agent. */
  choices: z.optional(variables),
  /** The lanes before it that were not available, and why. Absent if there are none. */
  passed: z.optional(
    z.readonly(z.array(z.object({ lane: text, why: laneReasonSchema, until: time }))),
  ),
});

/** The session of a step. A new id is chosen and journaled before the step starts. */
export const sessionUseSchema = z.discriminatedUnion('use', [
  z.object({ use: z.literal('fresh'), id: text }),
  z.object({ use: z.literal('continue'), id: text }),
  z.object({ use: z.literal('branch'), from: text, id: text, at: z.optional(text) }),
]);

export const tagSchema = z.object({
  name: z.enum(TRANSITION_TAGS),
  attributes: variables,
  body: text,
});

/** Where a callee's result goes. */
export const frameSchema = z.object({
  state: stateName,
  workflow: text,
  session: sessionSchema,
  cwd: text,
});

export const stackChangeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('keep') }),
  z.object({ kind: z.literal('push'), frame: frameSchema }),
  z.object({ kind: z.literal('pop') }),
  z.object({ kind: z.literal('clear') }),
]);

/** The wait of an agent for its children. */
export const joinSchema = z.object({
  /** Its children, in the order of their forks. The key is older than the word. */
  workers: z.readonly(z.array(text)),
  /** The number of results to wait for. `all` also waits for children that fail. */
  of: z.union([z.enum(['all', 'any']), count]),
  next: stateName,
  deadline: z.optional(time),
  timeoutNext: z.optional(stateName),
  failedNext: z.optional(stateName),
  /** Whether children that are still working are stopped when the wait ends; see `mustStopRest`. */
  rest: z.optional(z.enum(['stop', 'continue'])),
});

/**
 * Why a join is over. `reached`: it has the results that it waited for. `failed`: it can no longer get
 * them, or a child failed. `timeout`: its deadline has passed.
 */
export const joinEndSchema = z.enum(['reached', 'failed', 'timeout']);

export const childStatusSchema = z.enum(['ended', 'failed', 'stopped', 'running']);

/** For each check that failed: the number of reminders about it so far, by its index. */
const unmet = z.record(z.string(), count);

/** A reminder in a session that is not the agent's own. */
const reminderSchema = z.object({
  number: count,
  text,
  session: text,
  /** To which the session belongs. */
  executor: z.optional(text),
  lane: z.optional(text),
});

/** The task of a ready agent. */
export const taskSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('state') }),
  z.object({ kind: z.literal('reminder'), number: count, text, unmet: z.optional(unmet) }),
  z.object({ kind: z.literal('continuation') }),
  z.object({
    kind: z.literal('judge'),
    evaluator: count,
    output: text,
    tags: z.readonly(z.array(tagSchema)),
    /** Present when the judge was reminded: it continues in this session. */
    reminder: z.optional(reminderSchema),
    unmet: z.optional(unmet),
  }),
  z.object({
    kind: z.literal('check'),
    ensure: count,
    /** The tags that are followed if all checks succeed. */
    tags: z.readonly(z.array(tagSchema)),
    /** The number of reminders about tags so far. */
    reminders: count,
    unmet: z.optional(unmet),
  }),
  /** Before the agent goes on to `next` in a new session, it writes what that session must know. */
  z.object({
    kind: z.literal('handover'),
    tag: z.enum(TRANSITION_TAGS),
    next: stateName,
    input: z.optional(text),
  }),
  /** A model fills the placeholders of the state's prompt that have no value. */
  z.object({
    kind: z.literal('fill'),
    /** Present when the model was reminded: it continues in this session. */
    reminder: z.optional(reminderSchema),
  }),
]);

/** The kinds of tasks, and so of steps. */
export const taskKindSchema = z.enum([
  'state',
  'reminder',
  'continuation',
  'judge',
  'check',
  'handover',
  'fill',
]);

/** The status of an agent whose step does not run. */
const restingStatusSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), task: taskSchema }),
  z.object({ kind: z.literal('waiting'), task: taskSchema, until: time, failure: failureSchema }),
  z.object({
    kind: z.literal('asking'),
    question: text,
    next: stateName,
    deadline: z.optional(time),
    timeoutNext: z.optional(stateName),
    approval: z.optional(approvalSchema),
    files: z.optional(keptFilesSchema),
    accept: z.optional(texts),
  }),
  z.object({ kind: z.literal('joining'), join: joinSchema }),
  z.object({
    kind: z.literal('failed'),
    task: taskSchema,
    failure: failureSchema,
    join: z.optional(joinSchema),
  }),
]);

const seenWorktreeSchema = z.extend(worktreeSchema, {
  look: z.optional(worktreeLookSchema),
  wasSeen: z.boolean(),
});

/** Words of a person that the agent does not have for certain yet. */
export const wordsSchema = z.object({
  id: text,
  text,
  by: z.optional(text),
  at: time,
  /** The step into whose turn they were sent. */
  into: z.optional(count),
  /** The step that has them: in front of its prompt, or heard during its turn. */
  given: z.optional(z.object({ step: count, how: z.enum(['prompt', 'turn']) })),
  /** An attempt that broke off had them. */
  isOld: z.optional(z.literal(true)),
});

/** An agent at one moment, without its numbers of steps and its cost. */
export const agentStateSchema = z.object({
  id: text,
  parent: z.optional(text),
  workflow: text,
  state: stateName,
  session: sessionSchema,
  cwd: text,
  worktree: z.optional(seenWorktreeSchema),
  stack: z.readonly(z.array(frameSchema)),
  variables,
  withheld: z.optional(texts),
  input: z.optional(text),
  filled: z.optional(variables),
  choices: variables,
  visits: z.readonly(z.record(text, count)),
  entries: z.readonly(z.record(text, texts)),
  entered: z.optional(text),
  attempts: count,
  retries: count,
  previousTry: z.optional(count),
  workers: texts,
  joined: z.optional(texts),
  answerFiles: z.optional(keptFilesSchema),
  words: z.optional(z.readonly(z.array(wordsSchema))),
  status: restingStatusSchema,
});

/** An agent that was over at one moment. */
export const endedAgentStateSchema = z.object({
  id: text,
  at: time,
  parent: z.optional(text),
  workflow: text,
  state: stateName,
  variables,
  end: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('ended'), result: text, checked: z.optional(z.literal(true)) }),
    z.object({ kind: z.literal('failed'), failure: failureSchema }),
    z.object({ kind: z.literal('stopped') }),
    z.object({ kind: z.literal('rewound') }),
  ]),
  worktree: z.optional(
    z.extend(seenWorktreeSchema, { fate: z.enum(['removing', 'removed', 'kept']) }),
  ),
  words: z.optional(z.readonly(z.array(wordsSchema))),
});

export type Words = z.infer<typeof wordsSchema>;
export type AgentState = z.infer<typeof agentStateSchema>;
export type EndedAgentState = z.infer<typeof endedAgentStateSchema>;
