/** The steps of `raymond show --steps`. `raymond rewind --to` takes their names. */
import type { RunHistory } from '../../history/run-history.ts';
import type { StepFacts } from '../../history/steps.ts';
import { isEstimate } from '../../model/estimate.ts';
import type { StepEndEvent } from '../../model/event.ts';
import { duration, time, usd } from '../../observe/words.ts';
import { type Column, table } from './table.ts';

const COLUMNS: readonly Column[] = [
  { head: 'STEP', least: 11 },
  { head: 'STATE', least: 5 },
  { head: 'STARTED' },
  { head: 'WORKED', isNumber: true },
  { head: 'COST', isNumber: true },
  { head: 'STATUS' },
];

export function showSteps(shown: ShownSteps, now: number, room: number | undefined) {
  const rows = stepForms(shown).map((step) => [
    `${step.agent}:${step.step}`,
    step.state,
    time(step.started, now),
    step.ended === undefined ? '' : duration(step.ended - step.started),
    step.kind === 'prompt' ? usd(step.cost_usd, step.cost_is_estimate) : '',
    step.abandoned ? `${step.status}, abandoned` : step.status,
  ]);
  return table(COLUMNS, rows, room);
}

export function stepsJson(shown: ShownSteps) {
  return stepForms(shown).map(({ started, ended, ...step }) => ({
    ...step,
    started_at: new Date(started).toISOString(),
    ended_at: ended === undefined ? null : new Date(ended).toISOString(),
  }));
}

export interface ShownSteps {
  readonly steps: readonly StepFacts[];
  readonly history: Pick<RunHistory, 'isAbandoned'>;
}

function stepForms({ steps, history }: ShownSteps) {
  return steps.map(({ started, ended }) => ({
    agent: started.agent,
    step: started.step,
    state: started.state,
    kind: started.session ? 'prompt' : 'script',
    started: started.at,
    ended: ended?.at,
    cost_usd: ended?.cost.usd ?? 0,
    ...(ended && isEstimate(ended.cost) && { cost_is_estimate: true }),
    status: ended ? ENDS[ended.type] : 'not over',
    abandoned: history.isAbandoned(started),
  }));
}

const ENDS: Readonly<Record<StepEndEvent['type'], string>> = {
  'step-ended': 'ended',
  'step-failed': 'failed',
  'step-interrupted': 'interrupted',
};
