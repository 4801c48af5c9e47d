/** The data of the streams. */
import * as z from 'zod/mini';
import { count, listOf, text, time } from '../../look/common.ts';

/** The events of a journal have a schema of their own, and newer versions have more of them. */
const journaledEvent = z
  .looseObject({ seq: count, type: text, at: count })
  .check(
    z.describe(
      'An event of the journal, as its reference describes it. `at` is in ms since the epoch.',
    ),
  );

export const eventBatch = listOf(journaledEvent);

export const heartbeat = z.object({ at: time });

/** The words that the agent is writing now. They are not a message yet. */
export const partialText = z.object({ text });
