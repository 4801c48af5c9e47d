/** The steps of `raymond show --steps`. `raymond rewind --to` takes their names. */
import type { StepRow } from '../../look/step-list.ts';
import { duration, time, usd } from '../../observe/words.ts';
import { TASKS } from './step-parts.ts';
import { type Column, table } from './table.ts';

const COLUMNS: readonly Column[] = [
  { head: 'STEP', least: 11 },
  { head: 'STATE', least: 5 },
  { head: 'STARTED' },
  { head: 'WORKED', isNumber: true },
  { head: 'COST', isNumber: true },
  { head: 'STATUS' },
];

export function showSteps(steps: readonly StepRow[], now: number, room: number | undefined) {
  const rows = steps.map((step) => {
    const started = Date.parse(step.started_at);
    return [
      `${step.agent}:${step.step}`,
      `${step.state}${step.task === 'state' ? '' : ` (${TASKS[step.task]})`}${step.lane === null ? '' : ` by ${step.lane}`}`,
      time(started, now),
      step.ended_at === null ? '' : duration(Date.parse(step.ended_at) - started),
      step.kind === 'prompt' ? usd(step.cost_usd, step.cost_is_estimate) : '',
      step.abandoned ? `${step.status}, abandoned` : step.status,
    ];
  });
  return table(COLUMNS, rows, room);
}
