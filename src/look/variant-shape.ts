/** The JSON form of the variants of a run, side by side. */
import * as z from 'zod/mini';
import { READABLE_CONDITIONS } from '../model/condition.ts';
import { boundedText, count, isEstimate, listOf, orNull, text, usd } from './common.ts';

const figures = {
  id: text,
  status: z.enum(READABLE_CONDITIONS),
  condition: text,
  path: listOf(text).check(z.describe('The states of the agent from the step on.')),
  steps: count,
  cost_usd: usd,
  cost_is_estimate: isEstimate,
  worked_ms: count,
  result: orNull(boundedText),
  failure: orNull(text),
  files: orNull(z.object({ files: count, added: count, removed: count })).check(
    z.describe('The changed files and lines since the moment. Null if they are not known.'),
  ),
};

export const variantShape = z.object({
  ...figures,
  changes: z
    .record(text, text)
    .check(z.describe('What it changes, by the names of options. Empty for a repetition.')),
  number: count.check(z.describe('Counts the repetitions of the same changes from 1.')),
  branch: orNull(text).check(z.describe('The branch with its files, if it has changed some.')),
  merge: orNull(text).check(z.describe('The command that adopts its files.')),
  worktree: orNull(text),
});

export const variantsShape = z.object({
  id: text.check(z.describe('The run of which they are variants.')),
  moments: listOf(
    z.object({
      agent: text,
      step: count.check(z.describe('They begin at the moment before this step.')),
      origin: orNull(z.object(figures)).check(z.describe('The run itself after the moment.')),
      variants: listOf(variantShape),
    }),
  ),
});

export type VariantShape = z.infer<typeof variantShape>;
export type VariantsShape = z.infer<typeof variantsShape>;
export type FiguresShape = Omit<
  VariantShape,
  'changes' | 'number' | 'branch' | 'merge' | 'worktree'
>;
