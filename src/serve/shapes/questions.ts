/** Everything that waits for a person, in all runs. */
import * as z from 'zod/mini';
import { count, listOf, orNull, text, time } from '../../look/common.ts';
import { approvalShape, filesOfQuestion, permissionRequest } from '../../look/run-shape.ts';

export const questionShape = z.object({
  kind: z.literal('question'),
  run: text,
  workflow: text,
  agent: text,
  state: text,
  question: text,
  asked_at: time,
  deadline: orNull(time),
  approval: orNull(approvalShape),
  ...filesOfQuestion,
  answered: z.boolean().check(z.describe('An answer is stored, but not used yet.')),
  own: z.boolean(),
  pid: orNull(z.int()).check(z.describe('Without a process, the run must be resumed, too.')),
});

/** A tool call that waits for a decision. */
export const permissionShape = z.object({
  run: text,
  workflow: text,
  agent: text,
  state: text,
  step: count,
  ...permissionRequest.shape,
  own: z.boolean(),
  pid: orNull(z.int()).check(z.describe('Without a process, the run must be resumed, too.')),
});

export const questionList = z.object({
  questions: listOf(questionShape).check(z.describe('The oldest first.')),
  permissions: listOf(permissionShape).check(z.describe('The oldest first.')),
});

export type QuestionShape = z.infer<typeof questionShape>;
export type WaitingPermissionShape = z.infer<typeof permissionShape>;
export type QuestionList = z.infer<typeof questionList>;
