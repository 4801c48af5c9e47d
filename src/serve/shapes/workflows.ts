/** The workflows of the project, for a person who wants to start one. */
import * as z from 'zod/mini';
import { forecastSchema } from '../../forecast/forecast.ts';
import { count, listOf, orNull, problem, text, usd } from '../../look/common.ts';

const path = text.check(z.describe('As `POST /api/runs` takes it.'));

const loadedWorkflow = z.object({
  path,
  name: text,
  title: orNull(text),
  description: orNull(text),
  states: count.check(z.describe('The number of its states.')),
  input: z.object({
    label: orNull(text),
    required: z.boolean(),
    default: orNull(text).check(z.describe('Used if the request has no input.')),
  }),
  budget_usd: orNull(usd).check(z.describe('Its usual budget; null if it names none.')),
  fault: orNull(text).check(
    z.describe('The first error in its files. It is not started if a run could reach the error.'),
  ),
  problem: z.null(),
});

/** A workflow that cannot be loaded. */
const brokenWorkflow = z.object({ path, name: text, problem });

export const workflowList = z.object({
  workflows: listOf(z.union([loadedWorkflow, brokenWorkflow])).check(
    z.describe('Sorted by their paths.'),
  ),
  more: z.boolean().check(z.describe('Whether the project has workflows that are not listed.')),
});

export const workflowForecast = forecastSchema;

export type LoadedWorkflow = z.infer<typeof loadedWorkflow>;
export type WorkflowList = z.infer<typeof workflowList>;
export type ListedWorkflow = WorkflowList['workflows'][number];
