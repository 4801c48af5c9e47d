/**
 * INV-5: `apply` is pure and total. Its work for one event does not depend on the number of agents,
 * except at a resume.
 *
 * Folds an event into a run. An event about an unknown agent changes nothing.
 */
import type {
  RunEvent,
  RunEventOf,
  Session,
  StackChange,
  StepEndEvent,
  Task,
} from '../model/event.ts';
import type { Agent, AgentStatus, Run, RunningStatus } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import { tallyWith } from '../model/tally.ts';
import { unreachable } from '../model/unreachable.ts';
import { FIRST_AGENT, newAgent, newRun, visitKey } from './new-run.ts';

export function apply(run: Run, event: RunEvent): Run {
  return { ...fold(run, event), seq: run.seq + 1, updatedAt: event.at };
}

function fold(run: Run, event: RunEvent): Run {
  switch (event.type) {
    case 'run-started':
      return started(event);
    case 'run-resumed':
      return resumed(run, event);
    case 'workflow-read':
      return { ...run, workflowFiles: run.workflowFiles.set(event.workflow, event.files) };
    case 'step-started':
      return stepStarted(run, event);
    case 'step-ended':
      return endStep(run, event, (agent, step) => ({
        ...keepSession(agent, step, event),
        retries: 0,
        previousTry: undefined,
      }));
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
      const task: Task = { kind: 'judge', evaluator, output, tags };
      return change(run, event.agent, (agent) => begin(agent, task));
    }
    case 'transition-overridden':
      return run;
    case 'agent-waits':
      return change(run, event.agent, (agent) => waits(agent, event.until));
    case 'agent-woke':
      return setStatus(run, event.agent, (status) => ready(taskOf(status)));
    case 'agent-failed':
      return setStatus(run, event.agent, (status) => ({
        kind: 'failed',
        task: taskOf(status),
        failure: event.failure,
      }));
    case 'agent-ended':
      return ended(run, event);
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

function started(event: RunEventOf<'run-started'>): Run {
  const run: Run = {
    ...newRun,
    id: event.run,
    workflow: event.workflow,
    cwd: event.cwd,
    settings: event.settings,
    metadata: event.metadata,
    startedAt: event.at,
  };
  return put(run, undefined, newAgent(FIRST_AGENT, undefined, event, {}));
}

/** Failed agents get a retry. Reminded agents and reminded judges start from the beginning. */
function resumed(run: Run, event: RunEventOf<'run-resumed'>): Run {
  let next: Run = { ...run, status: { kind: 'active' }, settings: event.settings };
  for (const [id, { status }] of run.agents) {
    if (status.kind !== 'failed') continue;
    next = change(next, id, (agent) => {
      const again = { ...agent, retries: 0, input: event.input ?? agent.input };
      return event.fresh
        ? restartInNewSession(again, status.task)
        : retryFailedTask(again, status.task);
    });
  }
  return next;
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
  if (task.kind !== 'judge') return task;
  const { kind, evaluator, output, tags } = task;
  return { kind, evaluator, output, tags };
}

function stepStarted(run: Run, event: RunEventOf<'step-started'>): Run {
  const isNewState = event.task === 'state' && event.attempt === 1;
  const counted = isNewState ? { ...run, iterations: run.iterations + 1 } : run;
  return change(counted, event.agent, (agent) => ({
    ...agent,
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
  }));
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
  const paid: Run = {
    ...run,
    totalCostUsd: run.totalCostUsd + usd,
    dearestTurnUsd:
      isTurn && hasPrice ? Math.max(run.dearestTurnUsd ?? 0, usd) : run.dearestTurnUsd,
  };
  const failure = event.type === 'step-failed' ? event.failure : undefined;
  return put(paid, agent, {
    ...settle(agent, agent.status),
    costUsd: agent.costUsd + usd,
    status: { kind: 'deciding', task: agent.status.task, failure },
  });
}

/** A judge has its own session. Version 1 did not repeat the session at the end of a step. */
function keepSession(agent: Agent, { session, task }: RunningStatus, event: StepEndEvent): Agent {
  const left = event.session ?? session;
  if (!left || task.kind === 'judge') return agent;
  return { ...agent, session: { kind: 'open', id: left.id } };
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

function moved(agent: Agent, event: RunEventOf<'agent-moved'>): Agent {
  const { workflow, session, cwd, input, choices = {} } = event;
  const there = {
    ...agent,
    workflow,
    session,
    cwd,
    stack: newStack(agent, event.stack),
    choices,
  };
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

function enter(agent: Agent, state: StateName, input: string | undefined): Agent {
  const key = visitKey(agent.workflow, state);
  const visits = { ...agent.visits, [key]: (agent.visits[key] ?? 0) + 1 };
  return begin({ ...agent, state, input, visits, retries: 0 }, { kind: 'state' });
}

/** Gives an agent a task that has not been tried yet. */
function begin(agent: Agent, task: Task): Agent {
  return { ...agent, attempts: 0, previousTry: undefined, status: ready(task) };
}

function forked(run: Run, event: RunEventOf<'agent-forked'>): Run {
  if (run.agents.has(event.agent)) return run;
  const forkCounters = run.forkCounters.set(event.parent, event.counter);
  const worker = newAgent(event.agent, event.parent, event, event.variables);
  return put({ ...run, forkCounters }, undefined, worker);
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
  const { number, text, session } = event;
  const task = taskOf(status);
  if (task.kind !== 'judge' || session === undefined) return { kind: 'reminder', number, text };
  return { ...task, reminder: { number, text, session } };
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

function ended(run: Run, event: RunEventOf<'agent-ended'>): Run {
  const agent = run.agents.get(event.agent);
  if (!agent) return run;
  const { parent, workflow, state, steps, costUsd } = agent;
  const { at, result } = event;
  const kept = { at, parent, workflow, state, result, steps, costUsd };
  return {
    ...run,
    agents: run.agents.delete(agent.id),
    endedAgents: run.endedAgents.set(agent.id, kept),
    tally: tallyWith(run.tally, agent.status, undefined),
    result: agent.id === FIRST_AGENT ? result : run.result,
  };
}

function ready(task: Task): AgentStatus {
  return { kind: 'ready', task };
}

function taskOf(status: AgentStatus): Task {
  return status.kind === 'asking' ? { kind: 'state' } : status.task;
}

function setStatus(run: Run, id: string, next: (status: AgentStatus) => AgentStatus): Run {
  return change(run, id, (agent) => ({ ...agent, status: next(agent.status) }));
}

function change(run: Run, id: string, next: (agent: Agent) => Agent): Run {
  const agent = run.agents.get(id);
  return agent ? put(run, agent, next(agent)) : run;
}

function put(run: Run, before: Agent | undefined, after: Agent): Run {
  return {
    ...run,
    agents: run.agents.set(after.id, after),
    tally: tallyWith(run.tally, before?.status, after.status),
  };
}
