/** The JSON form of triggers and their occasions, for `raymond triggers --json`, the API and the page. */
import * as z from 'zod/mini';
import { count, listOf, orNull, text, time } from './common.ts';

export const occasionShape = z.object({
  id: text,
  workflow: text,
  trigger: text.check(z.describe('The name of the trigger, such as `webhook issues`.')),
  kind: z.enum(['schedule', 'webhook', 'files']),
  cause: text.check(z.describe('The time, the id of the delivery, or the path of the file.')),
  replays: orNull(text).check(z.describe('The occasion whose delivery was repeated.')),
  at: time.check(z.describe('When it was recorded.')),
  outcome: z.enum(['due', 'started', 'completed', 'failed', 'skipped', 'refused']),
  why: orNull(text).check(z.describe('Why it was skipped or refused.')),
  times: count.check(z.describe('For how many times of a schedule it stands.')),
  run: orNull(text).check(z.describe('Its run, if it got one.')),
});

export const triggerShape = z.object({
  workflow: text.check(z.describe('The path of the workflow.')),
  name: text,
  kind: z.enum(['schedule', 'webhook', 'files']),
  approved: z.boolean(),
  overlap: z.enum(['skip', 'queue', 'replace']),
  next: listOf(time).check(z.describe('The next times of an approved schedule, at most ten.')),
  waiting: count.check(z.describe('The occasions that wait for an earlier run.')),
  last: orNull(occasionShape),
});

export const triggerList = z.object({
  triggers: listOf(triggerShape),
  occasions: listOf(occasionShape).check(z.describe('The newest first, at most 200.')),
  problems: listOf(text).check(
    z.describe('Sentences about workflows that cannot be read, or are in another project.'),
  ),
});

export const replayed = z.object({ occasion: occasionShape });

export type OccasionShape = z.infer<typeof occasionShape>;
export type TriggerShape = z.infer<typeof triggerShape>;
export type TriggerList = z.infer<typeof triggerList>;
