/** What one process says to another that works on a run. */
import * as z from 'zod/mini';

export const messageSchema = z.discriminatedUnion('kind', [
  /** `askedAt` names the question: an answer that comes twice finds it gone. */
  z.object({ kind: z.literal('answer'), agent: z.string(), askedAt: z.number(), text: z.string() }),
  /** `pid` is the process to be stopped: a later one that continues the run is not meant. */
  z.object({ kind: z.literal('stop'), how: z.enum(['drain', 'now']), pid: z.int() }),
]);
export type Message = z.infer<typeof messageSchema>;
