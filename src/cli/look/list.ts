import { statusOf } from '../../app/find-run.ts';
import { type ListWish, list as listRuns } from '../../app/list.ts';
import { rowForm } from '../../look/run-form.ts';
import { pidOf } from '../../model/pid-of.ts';
import type { RunSummary } from '../../model/run-summary.ts';
import { waitsForPerson } from '../../model/tally.ts';
import { duration, time, usd } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { StoredRun, SurveyedRun } from '../../ports.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { showNotice } from '../terminal/terminal-door.ts';
import { type Column, table } from './table.ts';
import { showWorkers } from './workers.ts';

export interface ListOptions extends Pick<ListWish, 'status'> {
  readonly json?: boolean;
  /** The workers of the database instead of the runs. */
  readonly workers?: boolean;
  /** How many of the newest runs. */
  readonly number?: string;
}

export async function list(here: Here, options: ListOptions): Promise<number> {
  const { json, status, number } = options;
  const newest = numberOf(number);
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
  // Users copy the id of a run, so it is never shortened: a wrapped line is better than a cut id.
  for (const line of table(COLUMNS, runs.map(row))) stdout.say(line);
  notices.forEach(showNotice);
  return 0;
}

const COLUMNS: readonly Column[] = [
  { head: 'RUN' },
  { head: 'STATUS' },
  { head: 'PID', isNumber: true, isOptional: true },
  { head: 'AGENTS', isNumber: true },
  { head: 'FAILED', isNumber: true, isOptional: true },
  { head: 'ASK', isNumber: true, isOptional: true },
  { head: 'WAIT', isNumber: true, isOptional: true },
  { head: 'STEPS', isNumber: true },
  { head: 'WORKED', isNumber: true },
  { head: 'COST', isNumber: true },
  { head: 'STARTED' },
];

function row(found: SurveyedRun): readonly string[] {
  if (found.kind === 'damaged')
    return [found.id, 'damaged', '', '', '', '', '', '', '', '', found.problem.message];
  const { run, owner } = found;
  const notes = `${run.isRehearsal ? ' (rehearsal)' : ''}${ownNote(found)}`;
  return [
    found.id,
    `${statusOf(found)}${notes}`,
    String(pidOf(owner) ?? ''),
    agentsOf(found),
    unlessZero(run.tally.failed),
    unlessZero(waitsForPerson(run.tally)),
    unlessZero(run.tally.waiting + run.tally.joining),
    String(run.iterations),
    duration(run.workedMs),
    usd(run.totalCostUsd, run.isPriced),
    time(run.startedAt, Date.now()),
  ];
}

function ownNote({ isOwn, doubt }: StoredRun<RunSummary>): string {
  if (isOwn) return '';
  return doubt?.line === undefined ? ' (not yours)' : ` (not yours: see line ${doubt.line})`;
}

const unlessZero = (count: number) => (count > 0 ? String(count) : '');

function agentsOf({ run: { agents, endedAgents } }: StoredRun<RunSummary>): string {
  return endedAgents === 0 ? String(agents) : `${agents} of ${agents + endedAgents}`;
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw wrongUsage(`"${text}" is not a number of runs.`, 'Write a number such as 10.');
}
