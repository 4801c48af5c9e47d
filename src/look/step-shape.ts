/** A step: its prompt, the messages of the agent, and how it ended. */
import * as z from 'zod/mini';
import { laneReasonSchema, taskKindSchema } from '../model/agent-state.ts';
import { messageShape } from '../model/conversation.ts';
import { failureSchema } from '../model/failure.ts';
import { refusalSchema, stepRightsSchema } from '../model/rights.ts';
import { accountSchema } from '../model/step-account.ts';
import { boundedText, count, isEstimate, listOf, orNull, text, time, usd } from './common.ts';

export const stepOutcome = z.object({
  kind: z.enum(['ended', 'failed', 'interrupted']),
  at: time,
  cost_usd: usd,
  cost_is_estimate: isEstimate,
  usage: orNull(z.nonoptional(accountSchema.shape.usage)),
  model: orNull(text).check(z.describe('The model that answered, if the agent says it.')),
  failure: orNull(failureSchema),
  exit: orNull(count).check(z.describe('The exit code of a check.')),
  denied: listOf(text).check(z.describe('Tool calls that the agent was not allowed to make.')),
  refused: listOf(refusalSchema).check(
    z.describe(
      'What the sandbox refused. `by` says whose rights would have to allow it: none if it is empty.',
    ),
  ),
  followed: listOf(text).check(
    z.describe('What followed: the types of the events that this step caused for its agent.'),
  ),
});

export const stepShape = z.object({
  run: text,
  agent: text,
  step: count,
  state: text,
  workflow: text,
  task: taskKindSchema,
  attempt: count,
  kind: z.enum(['prompt', 'script']),
  executor: orNull(text),
  lane: orNull(
    z.object({
      name: text.check(z.describe('The agent, or one of its lanes: `claude opus`.')),
      passed: listOf(z.object({ lane: text, why: laneReasonSchema, until: time })).check(
        z.describe('The lanes before it that were not available, and why.'),
      ),
    }),
  ).check(z.describe('Null if its state has only one lane.')),
  session: orNull(text),
  rights: orNull(stepRightsSchema).check(
    z.describe('What it may touch: all levels together. Null if it is not confined.'),
  ),
  started_at: time,
  prompt: orNull(boundedText).check(
    z.describe('The text that was sent, or the input of a script; null if it was not kept.'),
  ),
  messages: listOf(messageShape).check(z.describe('In their order, with tool calls.')),
  omitted: count.check(z.describe('The number of messages before them that were left out.')),
  cursor: count.check(z.describe('To follow the step after these messages: /live?after=.')),
  kept: z
    .boolean()
    .check(z.describe('False if the records of the step are gone; then there are no messages.')),
  outcome: orNull(stepOutcome).check(z.describe('Null while it runs.')),
});

export const messageBatch = listOf(messageShape);

export type StepOutcomeShape = z.infer<typeof stepOutcome>;
export type StepShape = z.infer<typeof stepShape>;
