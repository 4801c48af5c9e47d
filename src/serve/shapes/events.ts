/** The data of the streams. */
import * as z from 'zod/mini';
import { runEventSchema } from '../../model/event.ts';
import { count, listOf, text, time } from './common.ts';

/** An event with its place in the journal. */
export const journaledEvent = z
  .intersection(runEventSchema, z.object({ seq: count }))
  .check(z.describe('An event of the journal. Its times are in ms since the epoch.'));

export const eventBatch = listOf(journaledEvent);

export const heartbeat = z.object({ at: time });

/** The words that the agent is writing now. They are not a message yet. */
export const partialText = z.object({ text });
