/** What the page of a run shows, and how it changes. */
import * as z from 'zod/mini';
import { count, listOf, orNull, problem, text, usd } from '../../look/common.ts';
import { runRow, wholeRun } from '../../look/run-shape.ts';
import { runForecast } from './forecast.ts';
import { graphShape } from './graph.ts';
import { questionList } from './questions.ts';

export const runView = z.object({
  run: wholeRun,
  graph: z.union([graphShape, problem]),
  forecast: runForecast,
});

/** One of the user's projects, in few figures. */
const projectRow = z.object({
  name: text,
  folder: text,
  runs: count,
  active: count,
  failed: count.check(z.describe('Runs in which an agent failed.')),
  waiting: count.check(z.describe('What waits for a person there.')),
  cost_usd: usd,
  problem: orNull(text).check(z.describe('Why it cannot be read. Null if it can.')),
});

export const overviewShape = z.object({
  project: z.object({ name: text, folder: text }),
  runs: z.record(text, runRow).check(z.describe('By their ids.')),
  ...questionList.shape,
  projects: z
    .optional(z.record(text, projectRow))
    .check(z.describe('All projects of the user, by their folders. They come a little later.')),
});

export const changeList = listOf(
  z.union([
    z.tuple([listOf(z.union([text, count])), z.unknown()]),
    z.tuple([listOf(z.union([text, count]))]),
  ]),
).check(
  z.describe(
    'Places and their new values. A path has the keys of objects and the indexes of lists; the length of a list is a place, too. A place without a value no longer exists.',
  ),
);

export const logLine = z.object({
  seq: count.check(z.describe('The event.')),
  at: count.check(z.describe('In ms since the epoch.')),
  who: text.check(z.describe('The agent, or `run`.')),
  tone: z.enum(['plain', 'good', 'warning', 'bad', 'faint', 'detail']),
  type: text.check(z.describe('The type of the event, or `omitted`.')),
  text,
});

export type RunView = z.infer<typeof runView>;
export type OverviewShape = z.infer<typeof overviewShape>;
export type ProjectRow = z.infer<typeof projectRow>;
export type LogLine = z.infer<typeof logLine>;
