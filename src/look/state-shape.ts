/** A state of a run: its text, and the steps in it. */
import * as z from 'zod/mini';
import { boundedText, count, listOf, orNull, text } from './common.ts';
import { stepRow } from './step-list.ts';

export const stateShape = z.object({
  workflow: text,
  state: text,
  source: orNull(boundedText).check(
    z.describe('The prompt or script as it is now. Null if the workflow no longer has it.'),
  ),
  steps: listOf(stepRow).check(z.describe('The newest 100, the newest first.')),
  total: count.check(z.describe('The number of all its steps.')),
});

export type StateShape = z.infer<typeof stateShape>;
