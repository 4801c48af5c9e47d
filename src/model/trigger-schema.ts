/** The parts of triggers that are written to journals and to the ledger. */
import * as z from 'zod/mini';

const text = z.string();
/** In ms since the epoch. */
const at = z.int();

export const causeSchema = z.discriminatedUnion('kind', [
  /** The time for which the schedule asked. */
  z.object({ kind: z.literal('schedule'), time: at }),
  /** `replays` is the occasion whose delivery a person has repeated. */
  z.object({ kind: z.literal('webhook'), delivery: text, replays: z.optional(text) }),
  /** The path is relative to the project; the identity differs for another file with the same path. */
  z.object({ kind: z.literal('files'), path: text, identity: text }),
]);

export const outcomeSchema = z.discriminatedUnion('kind', [
  /** Recorded, and no run has started yet. */
  z.object({ kind: z.literal('due') }),
  z.object({ kind: z.literal('started'), at }),
  /** The run is over. */
  z.object({ kind: z.literal('over'), at, how: z.enum(['completed', 'failed']) }),
  /** `times` counts the times of a schedule for which this record stands, if there are several. */
  z.object({ kind: z.literal('skipped'), at, why: text, times: z.optional(z.int()) }),
  /** It was not allowed to start a run, or its run could not start. */
  z.object({ kind: z.literal('refused'), at, why: text }),
]);

export const occasionRecordSchema = z.object({
  occasion: z.object({
    id: text,
    trigger: z.object({ project: text, workflow: text, name: text }),
    cause: causeSchema,
    at,
    run: text,
  }),
  outcome: outcomeSchema,
});

export const startedBySchema = z.object({
  /** The id of the occasion. */
  occasion: text,
  /** The name of the trigger. */
  trigger: text,
  cause: causeSchema,
});
