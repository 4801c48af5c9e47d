/** Requests that change something, and their answers. */
import * as z from 'zod/mini';
import { count, isEstimate, problem, text, time, usd } from '../../look/common.ts';
import { fileShape } from '../../look/run-shape.ts';
import { MOST_FILES } from '../../model/kept-file.ts';

const options = {
  input: z.optional(text).check(z.describe('The value of {{input}}.')),
  budget: z.optional(usd).check(z.describe('In US dollars; 0 is unlimited.')),
  max_iterations: z.optional(count).check(z.describe('0 is unlimited.')),
  timeout: z
    .optional(z.number().check(z.nonnegative()))
    .check(z.describe('Seconds of silence after which a step is stopped; 0 is never.')),
  max_parallel: z.optional(z.int().check(z.positive())),
  fail_fast: z.optional(z.boolean()),
  wait: z.optional(z.boolean()),
  ask_permissions: z
    .optional(z.boolean())
    .check(z.describe('A tool call that the agent may not make by itself waits for a decision.')),
  model: z.optional(text),
  effort: z.optional(text),
  permission_mode: z
    .optional(text)
    .check(z.describe('A mode that a project may choose; more is a matter of the command line.')),
};

export const startRequest = z.strictObject({
  workflow: text.check(z.describe('The path of a workflow inside the project.')),
  set: z.optional(z.record(text, text)).check(z.describe('Variables for prompts and scripts.')),
  id: z.optional(text).check(z.describe('The id of the new run.')),
  rehearse: z.optional(z.boolean()).check(z.describe('Calls no model and executes no script.')),
  confirm_above: z
    .optional(usd)
    .check(
      z.describe('Refuse a start that could cost more US dollars; 0 is the consent to any amount.'),
    ),
  ...options,
});

export const resumeRequest = z.strictObject({
  ...options,
  fresh: z.optional(z.boolean()).check(z.describe('Failed agents begin in new sessions.')),
  accept_changes: z
    .optional(z.boolean())
    .check(z.describe('Use workflow files that have changed since the run read them.')),
  trust_run: z
    .optional(z.boolean())
    .check(z.describe('The consent to continue a run that you did not start here.')),
});

export const stopRequest = z.strictObject({
  now: z.optional(z.boolean()).check(z.describe('Also stop running steps.')),
});

export const answerRequest = z.strictObject({
  agent: z.optional(text).check(z.describe('May be left out if one agent has a question.')),
  text,
  files: z
    .optional(
      z
        .readonly(z.array(z.strictObject({ name: text, sha256: text })))
        .check(z.maxLength(MOST_FILES)),
    )
    .check(z.describe('Files that were stored for the run, with the names for the agent.')),
});

export const keptFile = z.object({ id: text, bytes: count, sha256: text });

export const fileList = z.object({
  files: z
    .readonly(
      z.array(
        z.object({ ...fileShape.shape, agent: text, of: z.enum(['question', 'answer']), at: time }),
      ),
    )
    .check(z.describe('The oldest first.')),
});

export type KeptFileReply = z.infer<typeof keptFile>;

export const sayRequest = z.strictObject({
  agent: z.optional(text).check(z.describe('May be left out if the run has one agent.')),
  text,
});

export const said = z.object({
  id: text,
  agent: text,
  words: text.check(z.describe('The id of the words in the events.')),
  reach: z
    .enum(['heard', 'turn', 'prompt', 'saved'])
    .check(
      z.describe(
        'heard: the model has got them in its running turn. turn: it gets them there when its tool call has ended, or in front of its next prompt if the turn ends first. prompt: they stand in front of its next prompt. saved: no process works on the run, and it takes them after a resume.',
      ),
    ),
});

export const permissionRequestBody = z.strictObject({
  request: z.optional(text).check(z.describe('May be left out if only one call waits.')),
  agent: z.optional(text),
  decision: z.enum(['allow', 'allow-run', 'deny']),
  message: z.optional(text).check(z.describe('A word for the agent, when it is denied.')),
});

export const rewindRequest = z.strictObject({
  agent: z.optional(text).check(z.describe('The first agent, if it is left out.')),
  step: z
    .optional(z.int().check(z.positive()))
    .check(z.describe('The run goes back to the moment before it.')),
  undo: z.optional(z.boolean()).check(z.describe('Undo the last rewind instead.')),
  files: z.optional(z.boolean()).check(z.describe('False leaves files alone.')),
});

export const rewound = z.object({
  id: text,
  agents: z.readonly(z.array(text)).check(z.describe('The agents that went back.')),
  gone: z.readonly(z.array(text)).check(z.describe('Agents that were forked after the moment.')),
  abandoned: z
    .readonly(z.array(z.object({ agent: text, first: count, last: count })))
    .check(z.describe('The steps that no longer count.')),
  cost_usd: usd.check(z.describe('What the abandoned steps have cost.')),
  cost_is_estimate: isEstimate,
  files: z.readonly(z.array(text)).check(z.describe('The folders whose files came back.')),
});

export const tryRequest = z.strictObject({
  agent: z.optional(text).check(z.describe('The first agent, if it is left out.')),
  step: z.int().check(z.positive(), z.describe('Variants begin at the moment before it.')),
  with: z
    .optional(z.readonly(z.array(text)))
    .check(z.describe('Files of the project, as `--with` takes them. Each one is a variant.')),
  model: z.optional(z.readonly(z.array(text))),
  effort: z.optional(z.readonly(z.array(text))),
  input: z.optional(z.readonly(z.array(text))),
  times: z.optional(z.int().check(z.positive())),
  steps: z
    .optional(z.int().check(z.positive()))
    .check(z.describe('How many states may begin in each variant.')),
  alone: z.optional(z.boolean()).check(z.describe('Only the agent of the step goes on.')),
  files: z
    .optional(z.boolean())
    .check(z.describe('False lets the variants work in the directory as it is now.')),
  budget: z.optional(usd).check(z.describe('What each variant may spend.')),
});

export const tried = z.object({
  id: text,
  variants: z
    .readonly(z.array(text))
    .check(z.describe('The runs that have begun, or had begun before.')),
  refused: z.readonly(z.array(problem)).check(z.describe('Why the other variants have not begun.')),
  warnings: z.readonly(z.array(text)),
});

export const pruneRequest = z.strictObject({});

export const replayRequest = z.strictObject({});

export const pruned = z.object({
  id: text,
  removed: z.boolean(),
  work: z
    .readonly(z.array(text))
    .check(z.describe('The work for which the run was kept, and why it counts as work.')),
  warnings: z.readonly(z.array(text)),
});

export const decided = z.object({
  id: text,
  agent: text,
  request: text,
  delivered: z
    .boolean()
    .check(
      z.describe('False if no process works on the run: it uses the decision after a resume.'),
    ),
});

export const stopping = z.object({
  id: text,
  stopped: z.boolean().check(z.describe('False while running steps finish or end.')),
});

export const answered = z.object({
  id: text,
  agent: text,
  delivered: z
    .boolean()
    .check(z.describe('False if no process works on the run: it uses the answer after a resume.')),
});

export type StartRequest = z.infer<typeof startRequest>;
export type ResumeRequest = z.infer<typeof resumeRequest>;
export type StopRequest = z.infer<typeof stopRequest>;
export type AnswerRequest = z.infer<typeof answerRequest>;
export type SaidReply = z.infer<typeof said>;
export type Stopping = z.infer<typeof stopping>;
export type Decided = z.infer<typeof decided>;
export type Pruned = z.infer<typeof pruned>;
export type Rewound = z.infer<typeof rewound>;
export type PermissionRequestBody = z.infer<typeof permissionRequestBody>;
export type TryRequest = z.infer<typeof tryRequest>;
export type Tried = z.infer<typeof tried>;
export type RewindRequest = z.infer<typeof rewindRequest>;
export type Answered = z.infer<typeof answered>;
