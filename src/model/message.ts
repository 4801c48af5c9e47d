/** A message to the process that works on a run. */

import * as z from 'zod/mini';
import { keptFilesSchema, signatureSchema } from './agent-state.ts';
import { decisionSchema } from './permission.ts';

export const messageSchema = z.discriminatedUnion('kind', [
  /** `askedAt` identifies the question, so that a second answer has no effect. `by` says how it came, if it is known. */
  z.object({
    kind: z.literal('answer'),
    agent: z.string(),
    askedAt: z.number(),
    text: z.string(),
    by: z.optional(z.string()),
    /** For a question that only signatures answer. */
    signed: z.optional(signatureSchema),
    /** Their content is stored before the message. */
    files: z.optional(keptFilesSchema),
  }),
  /** The decision on a permission request. `by` names the person, if it is known. */
  z.object({
    kind: z.literal('permission'),
    agent: z.string(),
    step: z.int(),
    request: z.string(),
    ...decisionSchema.shape,
    by: z.optional(z.string()),
  }),
  /** Words of a person for an agent. They have an id, so that the agent gets them once. */
  z.object({
    kind: z.literal('say'),
    agent: z.string(),
    words: z.string(),
    text: z.string(),
    by: z.optional(z.string()),
  }),
  /**
   * `pid` and `started` are those of the process to stop. A later process that continues the run ignores
   * the message, even if it has the same pid.
   */
  z.object({
    kind: z.literal('stop'),
    how: z.enum(['drain', 'now']),
    pid: z.int(),
    started: z.optional(z.string()),
  }),
]);
export type Message = z.infer<typeof messageSchema>;
