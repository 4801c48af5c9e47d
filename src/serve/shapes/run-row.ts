/** A run in the list of all runs. */
import * as z from 'zod/mini';
import { conditionSchema } from '../../model/condition.ts';
import { count, isEstimate, listOf, orNull, problem, text, time, usd } from './common.ts';

const condition = text.check(
  z.describe('The status in the words of `raymond list`, such as `stopped: budget`.'),
);

/** The facts about a run that a list shows. `GET /api/runs/:id` has them, too. */
export const rowFields = {
  id: text,
  status: conditionSchema,
  condition,
  workflow: text,
  started_at: time,
  updated_at: time,
  worked_ms: count.check(z.describe('The time in which at least one step ran.')),
  agents: z.object({
    running: count,
    waiting: count.check(z.describe('For a person, a time or other agents.')),
    failed: count,
    ended: count,
  }),
  steps: count,
  cost_usd: usd,
  cost_is_estimate: isEstimate,
  budget_usd: usd.check(z.describe('0 is unlimited.')),
  questions: count.check(z.describe('The number of agents that wait for a person.')),
  limited_until: orNull(time).check(z.describe('The last end of all usage limits.')),
  limits: z
    .array(
      z.object({
        agent: orNull(text).check(
          z.describe('Whose prompts wait. Null if those of all agents do.'),
        ),
        until: time,
      }),
    )
    .check(z.describe('The usage limits that agents have reached.')),
  rehearsal: z.boolean(),
  own: z
    .boolean()
    .check(z.describe('Whether you started it here. Other runs are resumed only with consent.')),
  pid: orNull(count).check(z.describe('The process that works on it.')),
  position: count.check(z.describe('The sequence number of its newest event.')),
};

export const storedRow = z.object(rowFields);

/** A run that cannot be read. */
export const damagedRow = z.object({
  id: text,
  status: z.literal('damaged'),
  condition,
  problem,
});

export const runRow = z.union([storedRow, damagedRow]);

export const runList = z.object({
  runs: listOf(runRow).check(z.describe('The newest first; damaged ones last.')),
});

export type StoredRow = z.infer<typeof storedRow>;
export type RunRow = z.infer<typeof runRow>;
export type RunList = z.infer<typeof runList>;
