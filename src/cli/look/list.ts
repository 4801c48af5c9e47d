import { basename } from 'node:path';
import { type ListWish, list as listRuns } from '../../app/list.ts';
import { rowForm } from '../../look/run-form.ts';
import { type Condition, conditionOf } from '../../model/condition.ts';
import type { RunSummary } from '../../model/run-summary.ts';
import { atWork, type Tally, waitsForPerson } from '../../model/tally.ts';
import type { Tone } from '../../observe/screen.ts';
import { age, cellText, oneLine, time, usd } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { StoredRun, SurveyedRun } from '../../ports.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { showNotice } from '../terminal/terminal-door.ts';
import { type Column, table } from './table.ts';
import { showWorkers } from './workers.ts';

export interface ListOptions extends Pick<ListWish, 'status'> {
  readonly json?: boolean;
  /** The workflows of the project instead of the runs. */
  readonly workflows?: boolean;
  /** The workers of the database instead of the runs. */
  readonly workers?: boolean;
  /** How many of the newest runs. */
  readonly number?: string;
}

export async function list(here: Here, options: ListOptions): Promise<number> {
  const { json, status, number } = options;
  const newest = numberOf(number);
  if (options.workflows) return (await import('./workflows.ts')).showWorkflows(here, options);
  const around = await here();
  if (options.workers) return showWorkers(await around.world.workers(), options);
  const { runs, total, lost, notices } = await listRuns(around, { status, newest });
  if (json) {
    for (const found of runs)
      stdout.json({
        ...rowForm(found),
        ...(lost.has(found.id) && { lost_worktrees: lost.get(found.id) }),
      });
    return 0;
  }
  if (runs.length === 0) {
    stderr.say(
      total === 0
        ? 'This project has no runs. To start one: raymond <workflow>'
        : `No run of this project has this status. To see all runs: raymond list`,
    );
    return 0;
  }
  show(runs, around.clock.now());
  notices.forEach(showNotice);
  return 0;
}

function show(runs: readonly SurveyedRun[], now: number): void {
  const rows = runs.map((found) => row(found, now));
  const lines = table(COLUMNS, rows, stdout.columns() ?? USUAL_COLUMNS);
  const [head = ''] = lines;
  stdout.say(head);
  // Only ids, which have no wide letters, precede the status.
  const at = head.indexOf('STATUS');
  for (const [i, found] of runs.entries()) {
    const line = lines[i + 1] ?? '';
    const { kind } = conditionOf(found);
    const end = at + kind.length;
    stdout.say([
      { text: line.slice(0, at), tone: 'plain' },
      { text: line.slice(at, end), tone: TONES[kind] },
      { text: line.slice(end), tone: 'plain' },
    ]);
  }
}

const USUAL_COLUMNS = 80;

/** Users copy the id of a run, so it is never shortened. */
const COLUMNS: readonly Column[] = [
  { head: 'RUN' },
  { head: 'STATUS' },
  { head: 'AGE', isNumber: true },
  { head: 'STEPS', isNumber: true },
  { head: 'COST', isNumber: true },
  { head: 'WORKFLOW', least: 8, cut: 'middle' },
  { head: 'FOR', least: 8, isOptional: true },
  { head: 'OUTCOME', least: 10, isOptional: true },
];

const TONES: Readonly<Record<Condition['kind'], Tone>> = {
  running: 'plain',
  stopping: 'warning',
  waiting: 'warning',
  paused: 'warning',
  failed: 'bad',
  crashed: 'bad',
  interrupted: 'warning',
  stopped: 'warning',
  completed: 'good',
  damaged: 'bad',
};

function row(found: SurveyedRun, now: number): readonly string[] {
  const { kind } = conditionOf(found);
  if (found.kind === 'damaged') return [found.id, kind, '', '', '', '', '', found.problem.message];
  const { run } = found;
  return [
    found.id,
    kind,
    age(now - run.startedAt),
    String(run.steps),
    usd(run.totalCostUsd, run.isPriced),
    basename(run.workflow),
    oneLine(run.input?.text ?? '', LONGEST),
    oneLine([...notesOf(found), ...newsOf(found, now)].join(', '), LONGEST),
  ];
}

const LONGEST = 80;

function notesOf({ run, isOwn, doubt }: StoredRun<RunSummary>): readonly string[] {
  const foreign = doubt?.line === undefined ? 'not yours' : `not yours: see line ${doubt.line}`;
  const variant = run.origin ? [`variant of ${run.origin.run}`] : [];
  const cell = run.cell ? [`eval ${cellText(run.cell)}`] : [];
  return [
    ...variant,
    ...cell,
    ...(run.isRehearsal ? ['rehearsal'] : []),
    ...(isOwn ? [] : [foreign]),
  ];
}

/** What came of it, or what it does and waits for. */
function newsOf(found: StoredRun<RunSummary>, now: number): readonly string[] {
  const condition = conditionOf(found);
  const { tally, failure, result } = found.run;
  // The status says already that one has failed, and the reason needs the room.
  const isAlone = condition.kind === 'failed' && tally.failed === 1;
  const count = isAlone ? '' : `${tally.failed} failed: `;
  const failed = tally.failed > 0 ? [`${count}${failure?.text ?? ''}`] : [];
  switch (condition.kind) {
    case 'completed':
      return [...failed, ...(result ? [result.text] : [])];
    case 'waiting':
    case 'running':
    case 'stopping':
      return [...asksOf(tally), ...failed, ...workOf(found, condition, now)];
    case 'stopped':
      return [STOPPED_BY[condition.by], ...failed];
    default:
      return [...asksOf(tally), ...failed];
  }
}

const STOPPED_BY = {
  budget: 'by its budget',
  iterations: 'by its limit of steps',
  shutdown: 'by a shutdown',
} as const;

function asksOf(tally: Tally): readonly string[] {
  const count = waitsForPerson(tally);
  return count > 0 ? [`${count} ${count === 1 ? 'asks' : 'ask'} you`] : [];
}

function workOf({ run }: StoredRun<RunSummary>, condition: Condition, now: number) {
  const { tally, endedAgents } = run;
  const waits = tally.waiting + tally.joining;
  const limit = condition.kind === 'waiting' && condition.for === 'limit';
  const worker = condition.kind === 'waiting' && condition.for === 'worker';
  return [
    ...(limit ? [`until ${time(condition.until, now)}: ${condition.limit}`] : []),
    ...(worker ? ['for a worker'] : []),
    ...(atWork(tally) > 0 ? [`${atWork(tally)} at work`] : []),
    ...(waits > 0 ? [`${waits} waiting`] : []),
    ...(endedAgents > 0 ? [`${endedAgents} ended`] : []),
  ];
}

export function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw wrongUsage(`"${text}" is not a number of runs.`, 'Write a number such as 10.');
}
