/** Makes the JSON form of a run, whole or as a row of a list. */
import { FIRST_AGENT, type HistoryUse, type RunHistory } from '../history/run-history.ts';
import type { Question, Request } from '../host/questions.ts';
import { bounded } from '../model/bounded-text.ts';
import { conditionOf, type StoredFacts } from '../model/condition.ts';
import type { Cell, Origin, Settings } from '../model/event.ts';
import { mostBytes } from '../model/kept-file.ts';
import { lastLimit, NO_LIMITS } from '../model/limits.ts';
import type { Now } from '../model/now.ts';
import { pidOf } from '../model/pid-of.ts';
import type { Agent, AskingStatus, EndedAgent, Run } from '../model/run.ts';
import { type RunSummary, summaryOf } from '../model/run-summary.ts';
import { atWork, isWorking, waitsForPerson } from '../model/tally.ts';
import { startedByText } from '../model/trigger.ts';
import { unreachable } from '../model/unreachable.ts';
import type { AgentWorktree, EndedWorktree } from '../model/worktree.ts';
import { conditionText } from '../observe/words.ts';
import type { StoredRun, SurveyedRun } from '../ports.ts';
import { axisOf } from '../timeline/axis.ts';
import { type Bar, type Bars, barOf } from '../timeline/bars.ts';
import type {
  AgentShape,
  AgentStatusShape,
  PermissionShape,
  RunRow,
  StoredRow,
  TimelineShape,
  WholeRun,
} from './run-shape.ts';

export function rowForm(found: SurveyedRun): RunRow {
  if (found.kind === 'stored') return storedRowForm(found);
  const { code, message, remedy } = found.problem;
  const problem = { code, message, remedy };
  return { id: found.id, status: 'damaged', condition: 'damaged', problem };
}

export function storedRowForm(found: StoredRun<RunSummary>): StoredRow {
  const { id, run, owner, isOwn, doubt } = found;
  const { tally } = run;
  return {
    id,
    ...statusForm(found),
    workflow: run.workflow,
    started_at: iso(run.startedAt),
    updated_at: iso(run.updatedAt),
    worked_ms: run.workedMs,
    agents: {
      running: atWork(tally),
      waiting: waitsForPerson(tally) + tally.waiting + tally.joining,
      failed: tally.failed,
      ended: run.endedAgents,
      failed_joined: run.failedEnds,
    },
    input: run.input ?? null,
    result: run.result ?? null,
    failure: run.failure ?? null,
    origin: run.origin ? originForm(run.origin) : null,
    cell: run.cell ? cellForm(run.cell) : null,
    steps: run.steps,
    iterations: run.iterations,
    cost_usd: run.totalCostUsd,
    ...(run.isPriced && { cost_is_estimate: true as const }),
    budget_usd: run.budgetUsd,
    questions: waitsForPerson(tally),
    permissions: tally.asksPermission,
    limited_until: isoOrNull(lastLimit(run.limits ?? NO_LIMITS)),
    limits: Object.entries(run.limits ?? NO_LIMITS).map(([agent, until]) => ({
      agent: agent === '' ? null : agent,
      until: iso(until),
    })),
    rehearsal: run.isRehearsal,
    own: isOwn,
    ...(doubt && { doubt: doubt.why }),
    pid: pidOf(owner),
    position: run.seq,
  };
}

const originForm = ({ run, agent, step, changes, number }: Origin) => ({
  ...{ run, agent, step, changes, number },
});

const cellForm = ({ eval: file, case: name, variant, number, changes, scores }: Cell) => ({
  ...{ eval: file, case: name, variant: variant === '' ? null : variant, number, changes },
  scores: scores ?? null,
});

export function statusForm(found: StoredFacts) {
  const condition = conditionOf(found);
  return { status: condition.kind, condition: conditionText(condition, Date.now()) };
}

export const iso = (ms: number) => new Date(ms).toISOString();
export const isoOrNull = (ms: number | undefined) => (ms === undefined ? null : iso(ms));

export interface SeenRun {
  readonly found: StoredRun;
  readonly history: RunHistory;
  readonly bars: Bars;
  readonly questions: readonly Question[];
  readonly requests: readonly Request[];
  readonly now: Now | undefined;
  /** The time up to which open spans last. */
  readonly at: number;
}

export function wholeForm(seen: SeenRun): WholeRun {
  const { found, history, now, at } = seen;
  const { run } = found;
  const { agents: counts, ...row } = storedRowForm({ ...found, run: summaryOf(run) });
  const use = history.until(at);
  const most = Math.max(LEAST_RESULT, Math.floor(MOST_RESULTS / Math.max(1, use.agents.size)));
  const asked = waitingOf(seen);
  return {
    ...row,
    worked_ms: run.workedMs + (isWorking(run.tally) ? at - run.updatedAt : 0),
    counts,
    cwd: run.cwd,
    metadata: run.metadata,
    max_iterations: run.settings.maxIterations,
    granted: run.settings.granted ?? [],
    rights: rightsOfUser(run.settings),
    input: run.input === undefined ? null : bounded(run.input, MOST_RESULT),
    started_by: run.startedBy ? startedByText(run.startedBy) : null,
    result: run.result === undefined ? null : bounded(run.result, MOST_RESULT),
    ...resultJson(run.endedAgents.get(FIRST_AGENT)?.end, MOST_RESULT),
    agents: [...use.agents.values()].flatMap(({ id, bornAt, workedMs }) => {
      const agent = agentForm(run, id, asked.get(id), most);
      return agent ? [{ ...agent, born_at: iso(bornAt), worked_ms: workedMs }] : [];
    }),
    states: use.states.map(({ workflow, state, visits, steps, failures, ...rest }) => ({
      ...{ workflow, state, visits, steps, failures },
      worked_ms: rest.workedMs,
      cost_usd: rest.costUsd,
      ...(rest.isPriced && { cost_is_estimate: true as const }),
    })),
    timeline: timelineForm(seen, use),
    notes: [...run.notes].map(([path, { text, agent, step }]) => ({
      ...{ path, agent, step },
      bytes: new TextEncoder().encode(text).length,
    })),
    rewound: rewoundForm(history),
    now: now ?? null,
  };
}

function rewoundForm({ rewind }: RunHistory): WholeRun['rewound'] {
  const { to, at, abandoned, costUsd = 0 } = rewind ?? {};
  if (!to || at === undefined) return null;
  const steps = (abandoned ?? []).reduce((sum, { first, last }) => sum + last - first + 1, 0);
  return { at: iso(at), agent: to.agent, step: to.step, steps, cost_usd: costUsd };
}

/** In characters. All results together have a limit, because a run can have thousands of agents. */
const [MOST_RESULT, MOST_RESULTS, LEAST_RESULT] = [100_000, 2_000_000, 200];

/** What waits for a person, by agent. */
export interface Waiting {
  readonly question: Question | undefined;
  readonly requests: readonly Request[];
}

export function waitingOf({
  questions,
  requests,
}: Pick<SeenRun, 'questions' | 'requests'>): ReadonlyMap<string, Waiting> {
  const ofAgent = (id: string): Waiting => ({
    question: questions.find(({ agent }) => agent === id),
    requests: requests.filter(({ agent }) => agent === id),
  });
  const ids = new Set([...questions, ...requests].map(({ agent }) => agent));
  return new Map([...ids].map((id) => [id, ofAgent(id)]));
}

export type AgentForm = Omit<AgentShape, 'born_at' | 'worked_ms'>;

/** `most` is the largest number of characters of a result. */
export function agentForm(
  run: Run,
  id: string,
  asked: Waiting | undefined,
  most: number,
): AgentForm | undefined {
  const live = run.agents.get(id);
  const agent = live ?? run.endedAgents.get(id);
  if (!agent) return undefined;
  const { workflow, state, variables, steps } = agent;
  const words = (agent.words ?? []).flatMap(({ text, by, at, given }) =>
    given ? [] : [{ text: bounded(text, most), by: by ?? null, said_at: iso(at) }],
  );
  return {
    ...{ id, parent: agent.parent ?? null, workflow, state, variables, steps },
    cwd: live?.cwd ?? null,
    session: live?.session.kind === 'open' ? live.session.id : null,
    stack: (live?.stack ?? []).map((frame) => ({
      state: frame.state,
      workflow: frame.workflow,
      cwd: frame.cwd,
    })),
    attempts: live?.attempts ?? 0,
    cost_usd: agent.costUsd,
    ...(agent.isPriced && { cost_is_estimate: true as const }),
    worktree: worktreeForm(agent.worktree),
    ...(words.length > 0 && { words }),
    status: 'end' in agent ? endedStatus(agent, most) : liveStatus(run, agent, asked),
  };
}

function liveStatus(
  { settings }: Run,
  { status }: Agent,
  asked: Waiting | undefined,
): AgentStatusShape {
  switch (status.kind) {
    case 'ready':
    case 'deciding':
      return { kind: 'ready' };
    case 'running':
      return {
        kind: 'running',
        step: status.step,
        state: status.state,
        prompt: status.session !== undefined,
        since: iso(status.startedAt),
        queued: status.isQueued,
        requests: (asked?.requests ?? [])
          .filter(({ step }) => step === status.step)
          .map(permissionForm),
      };
    case 'waiting':
      return { kind: 'waiting', until: iso(status.until), failure: status.failure };
    case 'asking':
      return {
        kind: 'asking',
        question: status.question,
        asked_at: iso(status.askedAt),
        deadline: isoOrNull(status.deadline),
        approval: approvalForm(
          asked?.question?.askedAt === status.askedAt ? asked.question : status,
        ),
        ...filesForm(settings, status),
        answered: asked?.question?.askedAt === status.askedAt && asked.question.isAnswered,
      };
    case 'joining':
      return {
        kind: 'joining',
        workers: status.join.workers,
        open: status.open,
        since: iso(status.since),
        deadline: isoOrNull(status.join.deadline),
      };
    case 'failed':
      return { kind: 'failed', failure: status.failure, joined: false };
    default:
      return unreachable(status);
  }
}

/** A result that a schema has checked is JSON, unless it is too long to be shown. */
function resultJson(end: EndedAgent['end'] | undefined, most: number) {
  if (end?.kind !== 'ended' || !end.checked || end.result.length > most) return {};
  return { result_json: JSON.parse(end.result) as unknown };
}

function endedStatus(agent: EndedAgent, most: number): AgentStatusShape {
  const { end } = agent;
  const at = iso(agent.at);
  switch (end.kind) {
    case 'ended':
      return { kind: 'ended', at, result: bounded(end.result, most), ...resultJson(end, most) };
    case 'failed':
      return { kind: 'failed', failure: end.failure, joined: true };
    case 'stopped':
      return { kind: 'stopped', at, by: 'join' };
    case 'rewound':
      return { kind: 'stopped', at, by: 'rewind' };
    default:
      return unreachable(end);
  }
}

function worktreeForm(worktree: AgentWorktree | EndedWorktree | undefined): AgentShape['worktree'] {
  if (!worktree) return null;
  return {
    branch: worktree.look?.branch ?? worktree.branch,
    path: worktree.tree?.path ?? null,
    commits: worktree.look?.commits ?? null,
    dirty: worktree.look?.dirty ?? null,
    fate: 'fate' in worktree ? worktree.fate : null,
  };
}

function timelineForm(
  { found: { run }, bars }: SeenRun,
  { agents, open }: HistoryUse,
): TimelineShape {
  const opened = new Map(open.map((span) => [span.agent, barOf(span)]));
  const rows = [...agents.keys()].map((agent) => {
    const last = opened.get(agent);
    const own = bars.of(agent);
    return { agent, bars: last ? [...own, last] : own };
  });
  const axis = axisOf(
    run.startedAt,
    rows.flatMap((row) => row.bars),
  );
  return {
    from: iso(axis.from),
    to: iso(axis.to),
    cuts: axis.cuts.map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
    rows: rows.map((row) => ({
      agent: row.agent,
      bars: row.bars.map((bar) => barShape(bar, bar === opened.get(row.agent))),
    })),
    shortest_ms: bars.shortestMs,
  };
}

function barShape(bar: Bar, open: boolean): TimelineShape['rows'][number]['bars'][number] {
  const { kind, workflow, state, parts, failed } = bar;
  return {
    ...{ kind, workflow, state, parts, failed, open },
    from: iso(bar.from),
    to: iso(bar.to),
    step: bar.step ?? null,
    prompt: bar.isPrompt,
    cost_usd: bar.costUsd,
    ...(bar.isPriced && { cost_is_estimate: true as const }),
  };
}

export function permissionForm(open: Request): PermissionShape {
  return {
    request: open.request,
    tool: open.tool,
    summary: open.summary,
    input: open.input,
    input_length: open.inputLength ?? null,
    rules: open.rules ?? null,
    question: open.isQuestion === true,
    asked_at: iso(open.askedAt),
    answered: open.isAnswered,
  };
}

function rightsOfUser({ rights, learnRights }: Settings): WholeRun['rights'] {
  if (rights === 'off') return 'lifted';
  if (learnRights) return 'learned';
  return rights === undefined || rights.length === 0 ? null : 'limited';
}

/** The files of a question, and how large those of its answer may be. */
export function filesForm(
  settings: Pick<Settings, 'maxFilesMib'>,
  { files = [], accept }: Pick<AskingStatus, 'files' | 'accept'>,
) {
  return { files, accept: accept ?? null, most_file_bytes: mostBytes(settings) };
}

/** Whose signatures a question needs, and who has signed what. */
export function approvalForm({ approval, signed = [] }: Pick<AskingStatus, 'approval' | 'signed'>) {
  if (!approval) return null;
  return { ...approval, signed: signed.map(({ by, text }) => ({ by, answer: text })) };
}
