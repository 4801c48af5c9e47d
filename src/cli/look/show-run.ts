/** The text of `raymond show`. */

import { statusOf } from '../../app/find-run.ts';
import type { Remainder } from '../../forecast/forecast.ts';
import type { AgentUse, HistoryUse, StateUse } from '../../history/run-history.ts';
import type { SavedWords } from '../../host/questions.ts';
import { counted } from '../../model/counted.ts';
import { lessonName } from '../../model/notes.ts';
import { type Doing, isDoing } from '../../model/now.ts';
import type { Agent, EndedAgent, JoiningStatus, OpenRequest, Run } from '../../model/run.ts';
import { shellWord } from '../../model/shell-word.ts';
import { atWork, waitsForPerson } from '../../model/tally.ts';
import { startedByText } from '../../model/trigger.ts';
import { unreachable } from '../../model/unreachable.ts';
import { type Wait, waitOf, waitsIn } from '../../model/wait.ts';
import { doingText } from '../../observe/doing-text.ts';
import type { Piece, Text } from '../../observe/screen.ts';
import {
  acceptLines,
  callText,
  cellText,
  duration,
  fileLines,
  grantText,
  oneLine,
  shortRequest,
  signaturesText,
  time,
  usd,
  waitsText,
  waitText,
} from '../../observe/words.ts';
import type { RunOwner, StoredRun } from '../../ports.ts';
import { notYours } from '../../world/sealed-choices.ts';
import { type Column, table } from './table.ts';

export interface ShownRun {
  readonly found: StoredRun;
  readonly history: HistoryUse;
  readonly doings: ReadonlyMap<string, Doing>;
  /** The file with the report of a run in the background. */
  readonly log: string | undefined;
  /** Undefined for a run that is over. */
  readonly left: Remainder | undefined;
  /** Sentences about worktrees that were deleted. */
  readonly lost: readonly string[];
  /** The words of people that the run takes when it continues. */
  readonly saved: readonly SavedWords[];
}

export function showRun(shown: ShownRun, columns: number | undefined): readonly Text[] {
  // Longer lines would wrap, and a wrapped row of a table is hard to read.
  const room = columns === undefined ? undefined : Math.max(40, columns - HANGING);
  const { found, history } = shown;
  return [
    ...runHeading(found),
    ...troubles(shown),
    ...facts(shown),
    ...agentTable(shown, room),
    ...stateTable(history.states, room),
    ...worktrees(shown),
    ...shown.lost,
  ];
}

/** As `ownLine` indents the rest of a line. */
const HANGING = 4;

export function runHeading(found: StoredRun): readonly Text[] {
  const { id, run, owner, isOwn, doubt } = found;
  return [
    `${id}: ${statusOf(found)}${workerOf(owner)}`,
    ...(isOwn ? [] : [`  NOT YOURS: ${notYours('it', doubt)}`]),
    ...(run.settings.rehearse ? [rehearsalLine(run)] : []),
  ];
}

const isCarried = (owner: RunOwner | undefined) => owner !== undefined && !owner.isAwaited;

function workerOf(owner: RunOwner | undefined): string {
  if (!owner || owner.isAwaited) return '';
  return owner.isHere ? ` (pid ${owner.pid})` : ` (${owner.name})`;
}

function rehearsalLine({ settings }: Run): string {
  const scripts = settings.rehearseScripts ? ' It executed scripts.' : '';
  return `  REHEARSAL: the run called no model and spent nothing.${scripts}`;
}

/** The agents that need a person, before everything else. */
function troubles({ found: { id, run }, history, saved }: ShownRun): readonly Text[] {
  const failures: Text[] = [];
  const questions: Text[] = [];
  const words: Text[] = [];
  for (const agent of history.agents.keys()) {
    const { state, status, words: said = [] } = run.agents.get(agent) ?? {};
    for (const { text, by } of run.endedAgents.get(agent)?.words ?? [])
      words.push(
        toned('warning', `${agent} ended before it heard what ${by ?? 'a person'} said: `, text),
      );
    const unheard = said.filter(({ given }) => !given);
    for (const { text, by } of [...unheard, ...saved.filter((one) => one.agent === agent)])
      words.push(
        toned('plain', `${agent} has not heard yet what ${by ?? 'a person'} said: `, text),
      );
    if (status?.kind === 'failed')
      failures.push(toned('bad', `${agent} failed at ${state}: `, status.failure.message));
    if (status?.kind === 'asking') {
      const signatures = signaturesText(status);
      const what = signatures === undefined ? '' : `, ${signatures}`;
      questions.push(toned('warning', `${agent} asks at ${state}${what}: `, status.question));
      for (const line of [...fileLines(id, status.files), ...acceptLines(status.accept)])
        questions.push(`    ${line}`);
    }
    for (const request of status?.kind === 'running' ? status.requests : []) {
      const what = request.isQuestion ? 'asks' : 'asks permission';
      const name = `${agent} ${what} at ${state} (request ${shortRequest(request.request)}): `;
      const text = request.isQuestion ? request.input : `${callText(request)}${grantText(request)}`;
      questions.push(toned('warning', name, text));
    }
  }
  return [
    ...few(failures, 'failed'),
    ...few(questions, 'ask'),
    ...few(words, 'were said'),
    ...(run.tally.failed + waitsForPerson(run.tally) > 0 ? answerHints(id, run) : []),
  ];
}

function answerHints(id: string, { tally, agents }: Run): readonly string[] {
  if (waitsForPerson(tally) === 0) return [];
  const requests = [...agents].flatMap(([, { status }]) =>
    status.kind === 'running' ? status.requests : [],
  );
  const which = tally.asking + requests.length > 1;
  const hint = which ? (requests.length > 0 ? ' --request ID' : ' --agent NAME') : '';
  const command = `raymond answer ${shellWord(id)}`;
  const hasQuestion = tally.asking > 0 || requests.some(({ isQuestion }) => isQuestion);
  const hasCall = requests.some(({ isQuestion }) => !isQuestion);
  return [
    ...(hasQuestion ? [`  To answer: ${command}${which ? ' --agent NAME' : ''} "..."`] : []),
    ...(hasCall ? [`  To decide: ${command}${hint} allow | allow-run | deny "..."`] : []),
  ];
}

function toned(tone: Piece['tone'], lead: string, text: string): Text {
  return [{ tone, text: `  ${lead}${oneLine(text, LONGEST_TROUBLE)}` }];
}

function few(lines: readonly Text[], what: string): readonly Text[] {
  const rest = lines.length - MOST_TROUBLES;
  return rest > 0 ? [...lines.slice(0, MOST_TROUBLES), `  and ${rest} more that ${what}`] : lines;
}

/** A call, and all rules that can be granted. */
const LONGEST_TROUBLE = 400;
const MOST_TROUBLES = 10;

function facts({ found, log, left }: ShownRun): readonly string[] {
  const { run } = found;
  const budget = run.settings.budgetUsd > 0 ? ` of ${usd(run.settings.budgetUsd)}` : '';
  const metadata = Object.entries(run.metadata).map(([name, value]) => `${name}=${oneLine(value)}`);
  return [
    `  workflow  ${run.workflow}`,
    ...(run.origin ? [`  variant   ${originText(run.origin)}`] : []),
    ...(run.cell ? [`  eval      ${oneLine(`${cellText(run.cell)} of ${run.cell.eval}`)}`] : []),
    ...(run.startedBy ? [`  trigger   ${oneLine(startedByText(run.startedBy))}`] : []),
    `  started   ${time(run.startedAt, Date.now())}, worked for ${duration(run.workedMs)}${inAll(run)}`,
    `  cost      ${usd(run.totalCostUsd, run.isPriced)}${budget}, ${counted(run.steps, 'step')}`,
    ...forecastLine(left),
    ...(run.agents.size + run.endedAgents.size > 1 ? [`  agents    ${standing(found)}`] : []),
    ...(metadata.length > 0 ? [`  set       ${metadata.join(', ')}`] : []),
    ...(run.result === undefined ? [] : [`  result    ${oneLine(run.result)}`]),
    ...noteLines(run),
    ...(log === undefined ? [] : [`  log       ${log}`]),
  ];
}

function noteLines({ id, notes, lessons }: Run): readonly string[] {
  const proposed = [...notes].filter(([path]) => lessonName(path) !== undefined).length;
  const show = `raymond show ${shellWord(id)} --notes`;
  return [
    ...(notes.size > 0 ? [`  notes     ${counted(notes.size, 'file')}: ${show}`] : []),
    ...(lessons.length > 0
      ? [`  lessons   ${counted(lessons.length, 'lesson')} of earlier runs`]
      : []),
    ...(proposed > 0
      ? [`  proposes  ${counted(proposed, 'lesson')}: raymond trust --lessons ${shellWord(id)}`]
      : []),
  ];
}

/** `of review-1a2b, from before main:7: model opus` */
function originText({ run, agent, step, changes, number }: NonNullable<Run['origin']>): string {
  const changed = Object.entries(changes).map(([name, value]) => `${name} ${oneLine(value, 60)}`);
  const all = [...changed, ...(number > 1 ? [`repetition ${number}`] : [])];
  const what = all.length > 0 ? `: ${all.join(', ')}` : '';
  return `of ${run}, from before ${agent}:${step}${what}. To compare: raymond try ${shellWord(run)}`;
}

/** What earlier runs say about the rest. Without earlier runs, nothing: few users expect a forecast then. */
function forecastLine(left: Remainder | undefined): readonly string[] {
  if (!left || (left.runs === 0 && left.kind === 'unknown' && left.state === undefined)) return [];
  if (left.kind === 'known') {
    const { cost_usd: cost, time_ms: time } = left;
    const money = (amount: number) => usd(amount, left.cost_is_estimate);
    const range = `${money(cost.low)} to ${money(cost.high)}, ${duration(time.low)} to ${duration(time.high)}`;
    return [
      `  forecast  about ${money(cost.median)} and ${duration(time.median)} more (half of ${left.runs} runs: ${range})`,
    ];
  }
  const needs = `${left.needed} completed runs of the workflow with these files`;
  const where = left.state === undefined ? '' : ` that passed ${left.state} in this way`;
  return [`  forecast  none: it needs ${needs}${where}, and there are ${left.runs}`];
}

/** Says how long the run has taken with its rests, if that is more than its work. */
function inAll({ startedAt, updatedAt, workedMs }: Run): string {
  const elapsedMs = updatedAt - startedAt;
  return elapsedMs - workedMs > Math.max(1_000, workedMs / 10) ? ` in ${duration(elapsedMs)}` : '';
}

/** `51: 2 failed, 1 asks you, 8 at work, 3 wait for money, 37 ended` */
function standing({ run, owner }: StoredRun): string {
  const { agents, endedAgents, tally } = run;
  const ends = { ended: 0, failed: 0, stopped: 0, rewound: 0 };
  for (const [, { end }] of endedAgents) ends[end.kind] += 1;
  const counted = (count: number, what: string) => (count > 0 ? [`${count} ${what}`] : []);
  const asking = waitsForPerson(tally);
  const waits = waitsIn(run, Date.now(), isCarried(owner));
  const waiting = waitsText(waits.filter(({ wait }) => wait.for !== 'person'));
  const atRest = waits.reduce((sum, { count }) => sum + count, 0);
  const working = atWork(tally) - tally.queued;
  const parts = [
    ...counted(tally.failed, 'failed'),
    ...counted(asking, asking === 1 ? 'asks you' : 'ask you'),
    ...counted(working, 'at work'),
    ...(waiting === '' ? [] : [waiting]),
    ...counted(agents.size - tally.failed - atRest - working, 'ready'),
    ...counted(ends.failed, 'failed and joined'),
    ...counted(ends.stopped, 'stopped'),
    ...counted(ends.rewound, 'gone after a rewind'),
    ...counted(ends.ended, 'ended'),
  ];
  return `${agents.size + endedAgents.size}: ${parts.join(', ')}`;
}

const AGENT_COLUMNS: readonly Column[] = [
  { head: 'AGENT', least: 11 },
  // Values such as paths often differ at their end.
  { head: 'VARIABLES', isOptional: true, least: 4, cut: 'middle' },
  { head: 'STATE', least: 5 },
  { head: 'RETURNS TO', isOptional: true, least: 5 },
  { head: 'WORKED', isNumber: true },
  { head: 'COST', isNumber: true },
  { head: 'STATUS', least: 7 },
];

/** All agents, in the order of their creation. */
function agentTable({ found, history, doings }: ShownRun, room?: number) {
  const { run } = found;
  const rows: (readonly string[])[] = [];
  const cost = ({ costUsd, isPriced }: Pick<Agent, 'costUsd' | 'isPriced'>) =>
    usd(costUsd, isPriced);
  for (const [id, use] of history.agents) {
    const [live, ended] = [run.agents.get(id), run.endedAgents.get(id)];
    if (live) {
      const status = doing(found, live, doings.get(id));
      rows.push(agentRow(use, live, returnsTo(live), cost(live), status));
    }
    if (ended) rows.push(agentRow(use, ended, '', cost(ended), endText(ended)));
  }
  return rows.length === 0 ? [] : ['', ...table(AGENT_COLUMNS, rows, room)];
}

function agentRow(
  { id, variables, workedMs }: AgentUse,
  { state }: Pick<Agent, 'state'>,
  returns: string,
  cost: string,
  status: string,
): readonly string[] {
  return [id, variablesText(variables), state, returns, duration(workedMs), cost, status];
}

function variablesText(variables: AgentUse['variables']): string {
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${oneLine(value, 40)}`);
  return oneLine(pairs.join(' '), 60);
}

const returnsTo = ({ stack }: Agent) => stack.map((frame) => frame.state).join(' < ');

function endText({ end }: EndedAgent): string {
  switch (end.kind) {
    case 'ended':
      return `ended: ${oneLine(end.result, 80)}`;
    case 'failed':
      return `failed (joined): ${oneLine(end.failure.message, 80)}`;
    case 'stopped':
      return 'stopped by a join';
    case 'rewound':
      return 'gone: the run was rewound';
    default:
      return unreachable(end);
  }
}

function doing({ run, owner }: StoredRun, agent: Agent, now: Doing | undefined): string {
  const { status } = agent;
  const wait = waitOf(run, agent, Date.now(), isCarried(owner));
  switch (status.kind) {
    case 'ready':
      return wait ? waitText(wait, Date.now()) : 'ready';
    case 'running': {
      const [request] = status.requests;
      if (request) return askingText(request);
      if (status.isQueued) return `waits for a worker since ${time(status.startedAt, Date.now())}`;
      const what = isDoing(agent, now) ? `: ${doingText(now)}` : '';
      return `running since ${time(status.startedAt, Date.now())}${what}`;
    }
    case 'deciding':
      return 'deciding';
    case 'waiting':
      return `waiting until ${time(status.until, Date.now())}: ${oneLine(status.failure.message, 60)}`;
    case 'asking':
      return `asking: ${oneLine(status.question, 60)}`;
    case 'joining':
      return joinText(status, wait);
    case 'failed':
      return `failed: ${oneLine(status.failure.message, 80)}`;
    default:
      return unreachable(status);
  }
}

function askingText(request: OpenRequest): string {
  return request.isQuestion
    ? `asking: ${oneLine(request.input, 60)}`
    : `asks permission: ${oneLine(callText(request), 60)}`;
}

/** `waits for 1 of 2 children: main_a1, main_b2` */
function joinText({ join: { workers } }: JoiningStatus, wait: Wait | undefined): string {
  const names = workers.length > 5 ? `${workers.length} child agents` : workers.join(', ');
  return wait
    ? `${waitText(wait, Date.now())}: ${oneLine(names, 60)}`
    : `joining ${oneLine(names, 60)}: stops the rest`;
}

const STATE_COLUMNS: readonly Column[] = [
  { head: 'STATE', least: 12 },
  { head: 'VISITS', isNumber: true },
  { head: 'STEPS', isNumber: true },
  { head: 'FAILED', isNumber: true, isOptional: true },
  { head: 'WORKED', isNumber: true },
  { head: 'COST', isNumber: true },
];

/** The use of the states, in the order of their first visits. */
function stateTable(states: readonly StateUse[], room?: number): readonly string[] {
  const hasSeveral = new Set(states.map(({ workflow }) => workflow)).size > 1;
  const rows = states.map(({ workflow, state, visits, steps, failures, ...use }) => [
    hasSeveral ? `${workflow.split('/').at(-1)}/${state}` : state,
    String(visits),
    String(steps),
    failures > 0 ? String(failures) : '',
    duration(use.workedMs),
    usd(use.costUsd, use.isPriced),
  ]);
  return rows.length === 0 ? [] : ['', ...table(STATE_COLUMNS, rows, room)];
}

/** The worktrees that exist, and what a merge would find in them. */
function worktrees({ found: { run }, history }: ShownRun): readonly string[] {
  const rows: string[][] = [];
  for (const id of history.agents.keys()) {
    const agent = run.agents.get(id) ?? run.endedAgents.get(id);
    const worktree = agent?.worktree;
    const isGone = worktree && 'fate' in worktree && worktree.fate !== 'kept';
    if (!worktree?.tree || isGone || worktree.look?.missing || agent?.steps === 0) continue;
    const { branch = worktree.branch, commits = '?', dirty } = worktree.look ?? {};
    const changes = dirty === undefined ? '?' : dirty ? 'uncommitted' : '-';
    rows.push([id, branch, String(commits), changes, worktree.tree.path]);
  }
  if (rows.length === 0) return [];
  return ['', ...table(['WORKTREE OF', 'BRANCH', 'COMMITS', 'CHANGES', 'FOLDER'], rows)];
}
