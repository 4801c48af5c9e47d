/** Folds the events of joins into a run. */
import type { ChildStatus, Join, RunEventOf } from '../model/event.ts';
import type { Agent, JoiningStatus, Run } from '../model/run.ts';
import { change, enter, put, retire } from './change-agent.ts';

export function joinStarted(run: Run, event: RunEventOf<'join-started'>): Run {
  const { at, agent: id, workers, of, next, deadline, timeoutNext, failedNext, rest } = event;
  const join: Join = {
    workers,
    of,
    next,
    ...(deadline !== undefined && { deadline }),
    ...(timeoutNext !== undefined && { timeoutNext }),
    ...(failedNext !== undefined && { failedNext }),
    ...(rest !== undefined && { rest }),
  };
  return change(run, id, (agent) => ({ ...agent, status: joining(run, join, at) }));
}

export function joinClosed(run: Run, { agent, why }: RunEventOf<'join-closed'>): Run {
  return changeJoin(run, agent, (status) => ({ ...status, closed: why }));
}

/** The reported children that do not run are over: a failure among them is handled. */
export function joinReported(run: Run, event: RunEventOf<'join-reported'>): Run {
  const over = new Set<string>();
  let next = run;
  for (const { agent: id, status } of event.workers) {
    if (status === 'running') continue;
    over.add(id);
    const child = next.agents.get(id);
    if (child?.status.kind !== 'failed') continue;
    next = retire(next, child, event.at, { kind: 'failed', failure: child.status.failure });
  }
  return change(next, event.agent, (agent) => ({
    ...enter(agent, event.state, event.input, { choices: {} }),
    workers: agent.workers.filter((id) => !over.has(id)),
    joined: event.workers.map((child) => child.agent),
  }));
}

export function stopRequested(
  run: Run,
  { agent: id, by }: RunEventOf<'agent-stop-requested'>,
): Run {
  if (run.agents.get(id)?.status.kind !== 'running') return run;
  const marked = change(run, id, (agent) => ({ ...agent, stoppedBy: by }));
  return changeJoin(marked, by, (status) => ({ ...status, stopping: status.stopping + 1 }));
}

/** A failure before the stop stays visible. */
export function stopped(run: Run, event: RunEventOf<'agent-stopped'>): Run {
  const { at, agent: id, worktree } = event;
  const agent = run.agents.get(id);
  if (!agent) return run;
  const { status, stoppedBy } = agent;
  if (status.kind === 'failed')
    return retire(run, agent, at, { kind: 'failed', failure: status.failure });
  const settled = settle(retire(run, agent, at, { kind: 'stopped' }, worktree), agent, 'stopped');
  if (stoppedBy === undefined) return settled;
  return changeJoin(settled, stoppedBy, (join) => ({ ...join, stopping: join.stopping - 1 }));
}

/** Counts a child that no longer works in the join that waits for it. */
export function settle(run: Run, child: Agent, how: ChildStatus): Run {
  const { id, parent, status } = child;
  if (parent === undefined || status.kind === 'failed') return run;
  return changeJoin(run, parent, (join) =>
    join.join.workers.includes(id)
      ? {
          ...join,
          open: join.open - 1,
          successes: join.successes + (how === 'ended' ? 1 : 0),
        }
      : join,
  );
}

/** Whether a join that is over has this child. A resume does not retry it. */
export function isDecided(run: Run, { id, parent }: Agent): boolean {
  const status = parent === undefined ? undefined : run.agents.get(parent)?.status;
  if (status?.kind !== 'joining' || !status.closed) return false;
  return status.join.workers.includes(id);
}

/** Counts the children of all joins again: a resume has retried those that had failed. */
export function recounted(run: Run): Run {
  let next = run;
  for (const [, agent] of run.agents) {
    const { status } = agent;
    if (status.kind !== 'joining') continue;
    next = put(next, agent, { ...agent, status: { ...status, ...standing(run, status.join) } });
  }
  return next;
}

export function joining(run: Run, join: Join, since: number): JoiningStatus {
  const counts = standing(run, join);
  return { kind: 'joining', join, since, ...counts, closed: undefined, stopping: 0 };
}

function standing(run: Run, { workers }: Join): Pick<JoiningStatus, 'open' | 'successes'> {
  let [open, successes] = [0, 0];
  for (const id of workers) {
    const status = childStatus(run, id);
    if (status === 'running') open++;
    if (status === 'ended') successes++;
  }
  return { open, successes };
}

/** The status of a child, as a join reports it. */
export function childStatus(run: Run, id: string): ChildStatus {
  const live = run.agents.get(id);
  if (live) return live.status.kind === 'failed' ? 'failed' : 'running';
  const end = run.endedAgents.get(id)?.end.kind ?? 'stopped';
  return end === 'rewound' ? 'stopped' : end;
}

function changeJoin(run: Run, id: string, next: (status: JoiningStatus) => JoiningStatus): Run {
  return change(run, id, (agent) =>
    agent.status.kind === 'joining' ? { ...agent, status: next(agent.status) } : agent,
  );
}
