/**
 * INV-5: `apply` is pure and total. Its work for one event does not depend on the number of agents,
 * except at a resume.
 *
 * Folds an event into a run. An event about an unknown agent changes nothing.
 */
import { changedAgent, changedRun } from '../model/changed.ts';
import type {
  RunEvent,
  RunEventOf,
  Session,
  StackChange,
  StepEndEvent,
  Task,
} from '../model/event.ts';
import type { Agent, AgentStatus, Run, RunningStatus } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import type { AgentWorktree, WorktreeLook } from '../model/worktree.ts';
import {
  isDecided,
  joinClosed,
  joining,
  joinReported,
  joinStarted,
  recounted,
  settle,
  stopped,
  stopRequested,
} from './apply-join.ts';
import { begin, change, enter, put, ready, retire, setStatus, taskOf } from './change-agent.ts';
import { FIRST_AGENT, newAgent, newRun, visitKey } from './new-run.ts';

export function apply(run: Run, event: RunEvent): Run {
  const { seq, updatedAt, workedMs } = run;
  const sinceMs = didWork(run, event) ? Math.max(0, event.at - updatedAt) : 0;
  const change = { seq: seq + 1, updatedAt: event.at, workedMs: workedMs + sinceMs };
  return fold(changedRun(run, change), event);
}

/** Whether the run worked in the time before the event. */
function didWork({ tally }: Run, { type }: RunEvent): boolean {
  return tally.promptsRunning + tally.scriptsRunning > 0 && type !== 'run-resumed';
}

function fold(run: Run, event: RunEvent): Run {
  switch (event.type) {
    case 'run-started':
      return started(run, event);
    case 'run-resumed':
      return resumed(run, event);
    case 'workflow-read':
      return { ...run, workflowFiles: run.workflowFiles.set(event.workflow, event.files) };
    case 'step-started':
      return stepStarted(run, event);
    case 'state-entered':
      return change(run, event.agent, (agent) => stateEntered(agent, event.digest));
    case 'step-ended':
      return endStep(run, event, (agent, step) =>
        changedAgent(keepSession(agent, step, event), { retries: 0, previousTry: undefined }),
      );
    case 'step-failed':
      return endStep(run, event, (agent) => ({ ...agent, previousTry: event.step }));
    case 'step-interrupted':
      return interrupted(run, event);
    case 'agent-moved':
      return change(run, event.agent, (agent) => moved(agent, event));
    case 'agent-forked':
      return forked(run, event);
    case 'agent-asked':
      return setStatus(run, event.agent, () => ({
        kind: 'asking',
        question: event.question,
        askedAt: event.at,
        next: event.next,
        deadline: event.deadline,
        timeoutNext: event.timeoutNext,
      }));
    case 'agent-answered':
      return change(run, event.agent, (agent) => afterQuestion(agent, event.text));
    case 'question-timed-out':
      return change(run, event.agent, (agent) => afterQuestion(agent, undefined));
    case 'agent-reminded':
      return change(run, event.agent, (agent) => begin(agent, reminded(agent.status, event)));
    case 'judge-called': {
      const { evaluator, output, tags } = event;
      return change(run, event.agent, (agent) =>
        begin(agent, { kind: 'judge', evaluator, output, tags, ...unmetOf(agent.status) }),
      );
    }
    case 'check-called': {
      const { ensure, tags } = event;
      return change(run, event.agent, (agent) => {
        const reminders = remindersOf(taskOf(agent.status));
        return begin(agent, { kind: 'check', ensure, tags, reminders, ...unmetOf(agent.status) });
      });
    }
    case 'transition-overridden':
      return run;
    case 'join-started':
      return joinStarted(run, event);
    case 'join-closed':
      return joinClosed(run, event);
    case 'join-reported':
      return joinReported(run, event);
    case 'agent-stop-requested':
      return stopRequested(run, event);
    case 'agent-stopped':
      return stopped(run, event);
    case 'agent-waits':
      return change(run, event.agent, (agent) => waits(agent, event.until));
    case 'agent-woke':
      return setStatus(run, event.agent, (status) => ready(taskOf(status)));
    case 'agent-failed':
      return failed(run, event);
    case 'agent-ended':
      return ended(run, event);
    case 'worktree-settled':
      return worktreeSettled(run, event);
    case 'usage-limited': {
      const limitedUntil = Math.max(run.limitedUntil ?? 0, event.until);
      return setStatus({ ...run, limitedUntil }, event.agent, (status) => ready(taskOf(status)));
    }
    case 'usage-limit-lifted':
      return { ...run, limitedUntil: undefined };
    case 'stop-requested':
      return { ...run, status: { kind: 'stopping', how: event.how, why: event.why } };
    case 'run-ended':
      return { ...run, status: { kind: 'ended', outcome: event.outcome } };
    default:
      return unreachable(event);
  }
}

function started({ seq, updatedAt }: Run, event: RunEventOf<'run-started'>): Run {
  const run: Run = {
    ...newRun,
    seq,
    updatedAt,
    id: event.run,
    workflow: event.workflow,
    cwd: event.cwd,
    settings: event.settings,
    metadata: event.metadata,
    startedAt: event.at,
  };
  return put(run, undefined, newAgent(FIRST_AGENT, undefined, event, {}));
}

/**
 * Failed agents get a retry, and failed joins wait again. Reminded agents and reminded judges start
 * from the beginning. A failed check is executed again.
 */
function resumed(run: Run, event: RunEventOf<'run-resumed'>): Run {
  let next: Run = { ...run, status: { kind: 'active' }, settings: event.settings };
  for (const [, agent] of run.agents) {
    const { status } = agent;
    if (status.kind !== 'failed' || isDecided(run, agent)) continue;
    next = put(next, agent, retried(run, agent, status, event));
  }
  return recounted(next);
}

function retried(
  run: Run,
  agent: Agent,
  { task, join }: Extract<AgentStatus, { kind: 'failed' }>,
  event: RunEventOf<'run-resumed'>,
): Agent {
  const given = { ...agent, retries: 0, input: event.input ?? agent.input };
  const again = event.fresh ? restartInNewSession(given, task) : retryFailedTask(given, task);
  return join ? { ...again, status: joining(run, join, event.at) } : again;
}

function retryFailedTask(agent: Agent, failed: Task): Agent {
  const task = withoutReminder(failed);
  const previousTry = task === failed ? agent.previousTry : undefined;
  return { ...agent, previousTry, status: ready(task) };
}

/**
 * A new session has nothing to continue and no reminder. If a caller would continue in the
 * abandoned session, it begins a new one too.
 */
function restartInNewSession(agent: Agent, failed: Task): Agent {
  if (failed.kind === 'judge') return begin(agent, withoutReminder(failed));
  const given = sessionId(agent.session);
  const stack = agent.stack.map((frame) =>
    given !== undefined && sessionId(frame.session) === given
      ? { ...frame, session: { kind: 'none' } as const }
      : frame,
  );
  return begin({ ...agent, stack, session: { kind: 'none' } }, { kind: 'state' });
}

function sessionId(session: Session): string | undefined {
  if (session.kind === 'none') return undefined;
  return session.kind === 'open' ? session.id : session.from;
}

function withoutReminder(task: Task): Task {
  if (task.kind === 'reminder') return { kind: 'state' };
  if (task.kind === 'check') return { ...task, reminders: 0, unmet: undefined };
  if (task.kind !== 'judge') return task;
  const { kind, evaluator, output, tags } = task;
  return { kind, evaluator, output, tags };
}

function stepStarted(run: Run, event: RunEventOf<'step-started'>): Run {
  const isNewState = event.task === 'state' && event.attempt === 1;
  const counted = isNewState ? changedRun(run, { iterations: run.iterations + 1 }) : run;
  return change(counted, event.agent, (agent) =>
    changedAgent(agent, {
      steps: event.step,
      attempts: event.attempt,
      status: {
        kind: 'running',
        task: taskOf(agent.status),
        step: event.step,
        state: event.state,
        startedAt: event.at,
        session: event.session,
        executor: event.executor,
        worker: event.worker,
      },
    }),
  );
}

/**
 * The only place that defines what the end of a step means for its agent and for the cost of the
 * run.
 */
function endStep(
  run: Run,
  event: StepEndEvent,
  settle: (agent: Agent, step: RunningStatus) => Agent,
): Run {
  const agent = run.agents.get(event.agent);
  if (agent?.status.kind !== 'running') return run;
  const { usd } = event.cost;
  // A turn that broke off before it cost anything shows no price.
  const hasPrice = event.type === 'step-ended' || usd > 0;
  const isTurn = agent.status.session !== undefined;
  const paid = changedRun(run, {
    totalCostUsd: run.totalCostUsd + usd,
    dearestTurnUsd:
      isTurn && hasPrice ? Math.max(run.dearestTurnUsd ?? 0, usd) : run.dearestTurnUsd,
  });
  const failure = event.type === 'step-failed' ? event.failure : undefined;
  const settled = changedAgent(settle(agent, agent.status), {
    costUsd: agent.costUsd + usd,
    worktree: agent.worktree && seenAt(agent.worktree, event.worktree),
    status: { kind: 'deciding', task: agent.status.task, failure },
  });
  return put(paid, agent, settled);
}

function seenAt(worktree: AgentWorktree, look: WorktreeLook | undefined): AgentWorktree {
  const isSeen = look !== undefined && !look.missing;
  return { ...worktree, look, wasSeen: worktree.wasSeen || isSeen };
}

/** A judge has its own session. Version 1 did not repeat the session at the end of a step. */
function keepSession(agent: Agent, { session, task }: RunningStatus, event: StepEndEvent): Agent {
  const left = event.session ?? session;
  if (!left || task.kind === 'judge') return agent;
  return changedAgent(agent, { session: { kind: 'open', id: left.id } });
}

function interrupted(run: Run, event: RunEventOf<'step-interrupted'>): Run {
  const isContinued = event.repeat === 'continue';
  const ended = endStep(run, event, (agent, step) =>
    isContinued ? keepSession(agent, step, event) : { ...agent, previousTry: event.step },
  );
  return change(ended, event.agent, (agent) => {
    if (agent.status.kind !== 'deciding') return agent;
    const { task } = agent.status;
    return isContinued && task.kind !== 'judge'
      ? begin(agent, { kind: 'continuation' })
      : { ...agent, status: ready(task) };
  });
}

function stateEntered(agent: Agent, digest: string): Agent {
  const key = visitKey(agent.workflow, agent.state);
  const known = agent.entries[key] ?? [];
  const entries = { ...agent.entries, [key]: [...known, digest].slice(-MOST_ENTRIES) };
  return { ...agent, entries, entered: digest };
}

/** A loop may run for months. */
const MOST_ENTRIES = 100;

function moved(agent: Agent, event: RunEventOf<'agent-moved'>): Agent {
  const { workflow, session, cwd, input, choices = {} } = event;
  const stack = newStack(agent, event.stack);
  const there = changedAgent(agent, { workflow, session, cwd, stack, choices });
  return enter(there, event.state, input);
}

function newStack(agent: Agent, stack: StackChange): Agent['stack'] {
  switch (stack.kind) {
    case 'keep':
      return agent.stack;
    case 'push':
      return [...agent.stack, stack.frame];
    case 'pop':
      return agent.stack.slice(0, -1);
    case 'clear':
      return [];
    default:
      return unreachable(stack);
  }
}

function forked(run: Run, event: RunEventOf<'agent-forked'>): Run {
  if (run.agents.has(event.agent)) return run;
  const forkCounters = run.forkCounters.set(event.parent, event.counter);
  const worktree = event.worktree && { ...event.worktree, look: undefined, wasSeen: false };
  const worker = newAgent(event.agent, event.parent, event, event.variables);
  const born = put({ ...run, forkCounters }, undefined, { ...worker, worktree });
  return change(born, event.parent, (parent) => ({
    ...parent,
    workers: [...parent.workers, worker.id],
  }));
}

function afterQuestion(agent: Agent, answer: string | undefined): Agent {
  if (agent.status.kind !== 'asking') return agent;
  const { next, timeoutNext } = agent.status;
  return enter(
    { ...agent, choices: {} },
    answer === undefined ? (timeoutNext ?? next) : next,
    answer,
  );
}

function reminded(status: AgentStatus, event: RunEventOf<'agent-reminded'>): Task {
  const { number, text, session, ensure } = event;
  const task = taskOf(status);
  if (task.kind === 'judge' && session !== undefined)
    return { ...task, reminder: { number, text, session } };
  const { unmet } = unmetOf(status);
  if (ensure === undefined) return { kind: 'reminder', number, text, ...(unmet && { unmet }) };
  // A reminder about a check does not use up the reminders about tags.
  return {
    kind: 'reminder',
    number: remindersOf(task),
    text,
    unmet: { ...unmet, [ensure]: number },
  };
}

/** The number of reminders about tags that an agent got in its state. */
function remindersOf(task: Task): number {
  if (task.kind === 'reminder') return task.number;
  return task.kind === 'check' ? task.reminders : 0;
}

/** A judge and a check are asked between reminders, so each task keeps the counts. */
function unmetOf(status: AgentStatus): { readonly unmet?: Readonly<Record<string, number>> } {
  const task = taskOf(status);
  return 'unmet' in task && task.unmet ? { unmet: task.unmet } : {};
}

function waits(agent: Agent, until: number): Agent {
  if (agent.status.kind !== 'deciding' || !agent.status.failure) return agent;
  const { task, failure } = agent.status;
  return {
    ...agent,
    retries: agent.retries + 1,
    status: { kind: 'waiting', task, until, failure },
  };
}

function failed(run: Run, { agent: id, failure }: RunEventOf<'agent-failed'>): Run {
  const agent = run.agents.get(id);
  if (!agent) return run;
  const { status } = agent;
  const join = status.kind === 'joining' ? status.join : undefined;
  const task = taskOf(status);
  const after = put(run, agent, { ...agent, status: { kind: 'failed', task, failure, join } });
  return settle(after, agent, 'failed');
}

function ended(run: Run, event: RunEventOf<'agent-ended'>): Run {
  const { at, agent: id, result, worktree } = event;
  const agent = run.agents.get(id);
  if (!agent) return run;
  const after = retire(run, agent, at, { kind: 'ended', result }, worktree);
  const settled = settle(after, agent, 'ended');
  return id === FIRST_AGENT ? { ...settled, result } : settled;
}

function worktreeSettled(run: Run, event: RunEventOf<'worktree-settled'>): Run {
  const agent = run.endedAgents.get(event.agent);
  if (agent?.worktree?.fate !== 'removing') return run;
  const fate = event.kept === undefined ? 'removed' : 'kept';
  const endedAgents = run.endedAgents.set(event.agent, {
    ...agent,
    worktree: { ...agent.worktree, fate },
  });
  return { ...run, endedAgents, removals: run.removals - 1 };
}
