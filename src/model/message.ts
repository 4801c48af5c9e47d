/** A message to the process that works on a run. */
import * as z from 'zod/mini';

export const messageSchema = z.discriminatedUnion('kind', [
  /** `askedAt` identifies the question, so that a second answer has no effect. */
  z.object({ kind: z.literal('answer'), agent: z.string(), askedAt: z.number(), text: z.string() }),
  /** `pid` is the process to stop. A later process that continues the run ignores the message. */
  z.object({ kind: z.literal('stop'), how: z.enum(['drain', 'now']), pid: z.int() }),
]);
export type Message = z.infer<typeof messageSchema>;
