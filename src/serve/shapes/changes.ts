/** What the page of a run shows, and how it changes. */
import * as z from 'zod/mini';
import { count, listOf, problem, text } from '../../look/common.ts';
import { runRow, wholeRun } from '../../look/run-shape.ts';
import { runForecast } from './forecast.ts';
import { graphShape } from './graph.ts';
import { questionList } from './questions.ts';

export const runView = z.object({
  run: wholeRun,
  graph: z.union([graphShape, problem]),
  forecast: runForecast,
});

export const overviewShape = z.object({
  project: z.object({ name: text, folder: text }),
  runs: z.record(text, runRow).check(z.describe('By their ids.')),
  ...questionList.shape,
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
export type LogLine = z.infer<typeof logLine>;
