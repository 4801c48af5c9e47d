/** The JSON form of an eval: its runs, their scores, and what the comparison shows. */
import * as z from 'zod/mini';
import { READABLE_CONDITIONS } from '../model/condition.ts';
import { boundedText, count, isEstimate, listOf, orNull, text, usd } from './common.ts';

const value = z.number();

export const evalCellShape = z.object({
  id: text.check(z.describe('The run.')),
  case: text,
  variant: orNull(text).check(z.describe('Null for the workflow as it is.')),
  number: count.check(z.describe('Counts the repetitions from 1.')),
  status: z.enum(READABLE_CONDITIONS),
  condition: text,
  result: orNull(boundedText),
  failure: orNull(text),
  cost_usd: usd,
  cost_is_estimate: isEstimate,
  worked_ms: count,
  scores: z.record(
    text,
    z.object({
      score: orNull(value).check(z.describe('Null if there is none: `note` says why.')),
      note: text.check(z.describe('What the scorer said besides the score.')),
      run: orNull(text).check(z.describe('The run of the scorer. Null if it is built in.')),
      cost_usd: usd,
    }),
  ),
});

const measureShape = z.object({
  runs: count,
  mean: value,
  median: value,
  low: value.check(z.describe('Half of the runs are between `low` and `high`.')),
  high: value,
});

const differenceShape = z.object({
  pairs: count.check(z.describe('The same case and the same repetition.')),
  mean: value.check(z.describe('Positive if the variant has more.')),
  low: orNull(value).check(
    z.describe('The range of the true difference. Null if there are too few pairs.'),
  ),
  high: orNull(value),
  chance: value.check(z.describe('How often chance alone gives such a difference.')),
  needed: count.check(z.describe('The fewest pairs with which a difference can show.')),
  verdict: z.enum(['higher', 'lower', 'open', 'too-few']),
  text: text.check(z.describe('The same in words.')),
});

export const evalShape = z.object({
  eval: text.check(z.describe('The path of the file.')),
  workflow: text,
  cases: count,
  repetitions: count,
  planned: count.check(z.describe('The number of runs without scores.')),
  cost_usd: usd.check(z.describe('Of all runs and scores.')),
  cost_is_estimate: isEstimate,
  budget_usd: usd.check(z.describe('For all of them; 0 is unlimited.')),
  variants: listOf(
    z.object({
      variant: orNull(text),
      runs: count,
      completed: count,
      measures: z.record(
        text,
        z.object({
          summary: orNull(measureShape),
          difference: orNull(differenceShape).check(
            z.describe('From the workflow as it is. Null for that itself.'),
          ),
        }),
      ),
    }),
  ),
  gate: listOf(z.object({ what: text, passed: z.boolean(), why: text })).check(
    z.describe('Empty without a gate.'),
  ),
  runs: listOf(evalCellShape),
});

export type EvalShape = z.infer<typeof evalShape>;

/** What a later eval reads of an earlier one. It ignores the rest, which a later version may change. */
export const baselineShape = z.object({
  runs: listOf(z.pick(evalCellShape, { case: true, variant: true, number: true, scores: true })),
});
