/** The answer about one run: its agents, states and timeline. */
import { bounded } from '../model/bounded-text.ts';
import type { Now } from '../model/now.ts';
import type { Agent, EndedAgent, Run } from '../model/run.ts';
import { summaryOf } from '../model/run-summary.ts';
import { isWorking } from '../model/tally.ts';
import { unreachable } from '../model/unreachable.ts';
import type { AgentWorktree, EndedWorktree } from '../model/worktree.ts';
import type { OpenPermission, StoredRun, WaitingQuestion } from '../ports.ts';
import { axisOf } from '../timeline/axis.ts';
import { type Bar, barOf } from '../timeline/bars.ts';
import type { AgentUse } from '../timeline/run-history.ts';
import type { Span } from '../timeline/span.ts';
import type { FollowedRun } from './followed-run.ts';
import { permissionOf } from './questions.ts';
import { iso, isoOrNull, storedRowOf } from './rows.ts';
import type { AgentShape, AgentStatusShape, TimelineShape, WholeRun } from './shapes/run.ts';

export interface SeenRun {
  readonly found: StoredRun;
  readonly followed: FollowedRun;
  readonly questions: readonly WaitingQuestion[];
  readonly requests: readonly OpenPermission[];
  readonly now: Now | undefined;
  /** The time up to which open spans last. */
  readonly at: number;
}

export function wholeRunOf(seen: SeenRun): WholeRun {
  const { found, followed, now, at } = seen;
  const { run, history } = followed;
  const { agents: counts, ...row } = storedRowOf({ ...found, run: summaryOf(run) });
  const open = history.openSpans(at);
  const worked = workedIn(open);
  const most = Math.max(LEAST_RESULT, Math.floor(MOST_RESULTS / Math.max(1, history.agents.size)));
  const asked = waitingOf(seen);
  return {
    ...row,
    worked_ms: run.workedMs + (isWorking(run.tally) ? at - run.updatedAt : 0),
    counts,
    cwd: run.cwd,
    metadata: run.metadata,
    max_iterations: run.settings.maxIterations,
    result: run.result === undefined ? null : bounded(run.result, MOST_RESULT),
    agents: [...history.agents.values()].flatMap((use) => {
      const agent = agentOf(run, use, asked.get(use.id), most);
      const more = worked.agents.get(use.id) ?? 0;
      return agent ? [{ ...agent, worked_ms: use.workedMs + more }] : [];
    }),
    states: history.states.map(({ workflow, state, visits, steps, failures, ...use }) => ({
      ...{ workflow, state, visits, steps, failures },
      worked_ms: use.workedMs + (worked.states.get(placeKey(workflow, state)) ?? 0),
      cost_usd: use.costUsd,
      ...(use.isPriced && { cost_is_estimate: true as const }),
    })),
    timeline: timelineOf(followed, open),
    rewound: rewoundOf(followed),
    now: now ?? null,
  };
}

function rewoundOf({ rewinds }: FollowedRun): WholeRun['rewound'] {
  const { to, at, abandoned, costUsd = 0 } = rewinds.newest ?? {};
  if (!to || at === undefined) return null;
  const steps = (abandoned ?? []).reduce((sum, { first, last }) => sum + last - first + 1, 0);
  return { at: iso(at), agent: to.agent, step: to.step, steps, cost_usd: costUsd };
}

/** In characters. All results together have a limit, because a run can have thousands of agents. */
const [MOST_RESULT, MOST_RESULTS, LEAST_RESULT] = [100_000, 2_000_000, 200];

function workedIn(open: readonly Span[]) {
  const agents = new Map<string, number>();
  const states = new Map<string, number>();
  for (const { kind, agent, workflow, state, from, to } of open) {
    if (kind !== 'work') continue;
    agents.set(agent, (agents.get(agent) ?? 0) + to - from);
    const place = placeKey(workflow, state);
    states.set(place, (states.get(place) ?? 0) + to - from);
  }
  return { agents, states };
}

const placeKey = (workflow: string, state: string) => `${workflow}\n${state}`;

/** What waits for a person, by agent. */
interface Waiting {
  readonly question: WaitingQuestion | undefined;
  readonly requests: readonly OpenPermission[];
}

function waitingOf({ questions, requests }: SeenRun): ReadonlyMap<string, Waiting> {
  const ofAgent = (id: string): Waiting => ({
    question: questions.find(({ agent }) => agent === id),
    requests: requests.filter(({ agent }) => agent === id),
  });
  const ids = new Set([...questions, ...requests].map(({ agent }) => agent));
  return new Map([...ids].map((id) => [id, ofAgent(id)]));
}

type AgentWithoutTime = Omit<AgentShape, 'worked_ms'>;

function agentOf(
  run: Run,
  use: AgentUse,
  asked: Waiting | undefined,
  most: number,
): AgentWithoutTime | undefined {
  const born = { id: use.id, born_at: iso(use.bornAt) };
  const live = run.agents.get(use.id);
  if (live) return { ...born, ...liveAgent(live, asked) };
  const ended = run.endedAgents.get(use.id);
  return ended && { ...born, ...endedAgent(ended, most) };
}

type OtherFields = Omit<AgentWithoutTime, 'id' | 'born_at'>;

function liveAgent(agent: Agent, asked: Waiting | undefined): OtherFields {
  const { workflow, state, variables, cwd, steps, attempts, stack } = agent;
  return {
    parent: agent.parent ?? null,
    ...{ workflow, state, variables, cwd, steps, attempts },
    stack: stack.map((frame) => ({
      state: frame.state,
      workflow: frame.workflow,
      cwd: frame.cwd,
    })),
    cost_usd: agent.costUsd,
    ...(agent.isPriced && { cost_is_estimate: true as const }),
    worktree: worktreeOf(agent.worktree),
    status: statusOf(agent, asked),
  };
}

function endedAgent(agent: EndedAgent, most: number): OtherFields {
  const { workflow, state, variables, steps, at, end } = agent;
  return {
    parent: agent.parent ?? null,
    ...{ workflow, state, variables, cwd: null, stack: [], steps, attempts: 0 },
    cost_usd: agent.costUsd,
    ...(agent.isPriced && { cost_is_estimate: true as const }),
    worktree: worktreeOf(agent.worktree),
    status: endOf(iso(at), end, most),
  };
}

function statusOf({ status }: Agent, asked: Waiting | undefined): AgentStatusShape {
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
          .map(permissionOf),
      };
    case 'waiting':
      return { kind: 'waiting', until: iso(status.until), failure: status.failure };
    case 'asking':
      return {
        kind: 'asking',
        question: status.question,
        asked_at: iso(status.askedAt),
        deadline: isoOrNull(status.deadline),
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

function endOf(at: string, end: EndedAgent['end'], most: number): AgentStatusShape {
  switch (end.kind) {
    case 'ended':
      return { kind: 'ended', at, result: bounded(end.result, most) };
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

function worktreeOf(worktree: AgentWorktree | EndedWorktree | undefined): AgentShape['worktree'] {
  if (!worktree) return null;
  return {
    branch: worktree.look?.branch ?? worktree.branch,
    path: worktree.tree?.path ?? null,
    commits: worktree.look?.commits ?? null,
    dirty: worktree.look?.dirty ?? null,
    fate: 'fate' in worktree ? worktree.fate : null,
  };
}

function timelineOf({ run, history, bars }: FollowedRun, open: readonly Span[]): TimelineShape {
  const opened = new Map(open.map((span) => [span.agent, barOf(span)]));
  const rows = [...history.agents.keys()].map((agent) => {
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
