/** The steps of `raymond show --steps`. `raymond rewind --to` takes their names. */
import { duration, time, usd } from '../observe/words.ts';
import type { ListedStep, StepList } from '../timeline/step-list.ts';
import { type Column, table } from './table.ts';

const COLUMNS: readonly Column[] = [
  { head: 'STEP', least: 11 },
  { head: 'STATE', least: 5 },
  { head: 'STARTED' },
  { head: 'WORKED', isNumber: true },
  { head: 'COST', isNumber: true },
  { head: 'STATUS' },
];

export function showSteps(list: StepList, now: number, room: number | undefined) {
  const rows = list.steps.map((step) => [
    `${step.agent}:${step.step}`,
    step.state,
    time(step.startedAt, now),
    step.endedAt === undefined ? '' : duration(step.endedAt - step.startedAt),
    step.isPrompt ? usd(step.costUsd, step.isPriced) : '',
    list.isAbandoned(step) ? `${statusOf(step)}, abandoned` : statusOf(step),
  ]);
  return table(COLUMNS, rows, room);
}

export function stepsJson(list: StepList) {
  return list.steps.map((step) => ({
    agent: step.agent,
    step: step.step,
    state: step.state,
    kind: step.isPrompt ? 'prompt' : 'script',
    started_at: new Date(step.startedAt).toISOString(),
    ended_at: step.endedAt === undefined ? null : new Date(step.endedAt).toISOString(),
    cost_usd: step.costUsd,
    ...(step.isPriced && { cost_is_estimate: true }),
    status: statusOf(step),
    abandoned: list.isAbandoned(step),
  }));
}

const statusOf = ({ end }: ListedStep) => end ?? 'not over';
