import { allRuns, statusOf } from '../../app/find-run.ts';
import { rowForm } from '../../look/run-form.ts';
import { CONDITIONS, conditionOf } from '../../model/condition.ts';
import { pidOf } from '../../model/pid-of.ts';
import type { RunSummary } from '../../model/run-summary.ts';
import { waitsForPerson } from '../../model/tally.ts';
import { duration, time, usd } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { nearest } from '../../parse/nearest.ts';
import type { StoredRun, SurveyedRun } from '../../ports.ts';
import type { Here } from '../../world/surroundings.ts';
import type { World } from '../../world/world.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { type Column, table } from './table.ts';

export interface ListOptions {
  readonly json?: boolean;
  /** Words of `CONDITIONS`, separated by commas. */
  readonly status?: string;
  /** How many of the newest runs. */
  readonly number?: string;
}

export async function list(here: Here, options: ListOptions): Promise<number> {
  const isWanted = statusFilter(options.status);
  const most = numberOf(options.number);
  const { store, world } = await here();
  const all = await allRuns(store);
  const runs = all.filter(isWanted).slice(-most);
  const lost = await lostTreesOf(runs, world);
  if (options.json) {
    // Everything in a row is in the index, so finished runs are not read.
    for (const found of runs)
      stdout.json({
        ...rowForm(found),
        ...(lost.has(found.id) && { lost_worktrees: lost.get(found.id) }),
      });
    return 0;
  }
  if (runs.length === 0) {
    stderr.say(
      all.length === 0
        ? 'This project has no runs. To start one: raymond <workflow>'
        : `No run of this project has this status. To see all runs: raymond list`,
    );
    return 0;
  }
  // Users copy the id of a run, so it is never shortened: a wrapped line is better than a cut id.
  for (const line of table(COLUMNS, runs.map(row))) stdout.say(line);
  for (const [id, count] of lost)
    stderr.say(
      `${count === 1 ? '1 worktree' : `${count} worktrees`} of ${id} ${count === 1 ? 'was' : 'were'} deleted or replaced. To see more: raymond show ${id}`,
    );
  return 0;
}

/** Checks only the runs that should have worktrees. The index names them, so no journal is read. */
async function lostTreesOf(
  runs: readonly SurveyedRun[],
  { countLost }: World,
): Promise<ReadonlyMap<string, number>> {
  const lost = new Map<string, number>();
  for (const found of runs) {
    const trees = found.kind === 'stored' ? found.run.trees : undefined;
    const count = trees === undefined ? 0 : await countLost(trees);
    if (count > 0) lost.set(found.id, count);
  }
  return lost;
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

function statusFilter(wanted: string | undefined): (found: SurveyedRun) => boolean {
  if (wanted === undefined) return () => true;
  const words = wanted.split(',').map((word) => word.trim());
  for (const word of words)
    if (!CONDITIONS.some((kind) => kind === word)) throw unknownStatus(word);
  return (found) => words.includes(conditionOf(found).kind);
}

function unknownStatus(word: string) {
  const near = nearest(word, CONDITIONS);
  return wrongUsage(
    `No run can have the status "${word}".`,
    near === undefined ? `Name one of ${CONDITIONS.join(', ')}.` : `Did you mean ${near}?`,
  );
}

function numberOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw wrongUsage(`"${text}" is not a number of runs.`, 'Write a number such as 10.');
}
