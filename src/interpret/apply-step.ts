/** Folds the beginning and the end of a step into a run. */
import { laneName } from '../model/agent.ts';
import { changedAgent } from '../model/changed.ts';
import { isEstimate } from '../model/estimate.ts';
import type { RunEventOf, Session, StepEndEvent, Task } from '../model/event.ts';
import { withChanges } from '../model/notes.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import type { AgentWorktree } from '../model/worktree.ts';
import { begin, change, ownerOf, put, ready, setStatus, taskOf } from './change-agent.ts';
import { visitKey } from './new-run.ts';
import { given, wordsAfter } from './words.ts';

export function stepStarted(run: Run, event: RunEventOf<'step-started'>): Run {
  const agent = run.agents.get(event.agent);
  if (!agent) return run;
  const isNewState = event.task === 'state' && event.attempt === 1;
  const started = changedAgent(agent, {
    steps: event.step,
    attempts: event.attempt,
    words: given(agent.words, event.words, { step: event.step, how: 'prompt' }),
    status: {
      kind: 'running',
      // A session of another executor cannot be continued, so the state begins again.
      task: startedTask(taskOf(agent.status), event),
      step: event.step,
      state: event.state,
      startedAt: event.at,
      isQueued: event.queued === true,
      session: event.session,
      reservedUsd: event.reservedUsd,
      executor: event.executor,
      ...(event.lane && { lane: event.lane }),
      worker: event.worker,
      rights: event.rights,
      ...(event.notes && { notes: { may: event.notes, seen: seenIn(run) } }),
      requests: NONE,
      decided: NONE,
    },
  });
  const iterations = run.iterations + (isNewState ? 1 : 0);
  return put(run, agent, started, { steps: run.steps + 1, iterations });
}

const seenIn = ({ notes }: Run) =>
  Object.fromEntries([...notes].map(([path, { sha256 }]) => [path, sha256]));

export function stepTaken(run: Run, event: RunEventOf<'step-taken'>): Run {
  return setStatus(run, event.agent, (status) =>
    status.kind === 'running' && status.step === event.step
      ? { ...status, startedAt: event.at, isQueued: false, worker: event.worker }
      : status,
  );
}

/**
 * A prompt that is filled first has the task of its state until then. A judge or a filling model whose
 * session belongs to another executor begins again.
 */
function startedTask(task: Task, { task: kind, session }: RunEventOf<'step-started'>): Task {
  if (kind === 'state') return STATE;
  if (kind === 'fill' && task.kind !== 'fill') return FILL;
  if ((task.kind !== 'judge' && task.kind !== 'fill') || session?.use !== 'fresh') return task;
  const { reminder: _, ...fresh } = task;
  return fresh;
}

/** Nearly all steps have none, so they share it. */
const NONE: readonly never[] = [];

const STATE = { kind: 'state' } as const;
const FILL = { kind: 'fill' } as const;

export function stepEnded(run: Run, event: RunEventOf<'step-ended'>): Run {
  return endStep(run, event, (agent, step) => ({
    session: sessionAfter(agent, step, event),
    retries: 0,
    previousTry: undefined,
  }));
}

export function stepFailed(run: Run, event: RunEventOf<'step-failed'>): Run {
  return endStep(run, event, () => ({ previousTry: event.step }));
}

export function stepInterrupted(run: Run, event: RunEventOf<'step-interrupted'>): Run {
  const isContinued = event.repeat === 'continue';
  const ended = endStep(run, event, (agent, step) =>
    isContinued ? { session: sessionAfter(agent, step, event) } : { previousTry: event.step },
  );
  return change(ended, event.agent, (agent) => {
    if (agent.status.kind !== 'deciding') return agent;
    const { task } = agent.status;
    return isContinued && task.kind !== 'judge'
      ? begin(agent, { kind: 'continuation' })
      : { ...agent, status: ready(task) };
  });
}

/**
 * The only place that defines what the end of a step means for its agent and for the cost of the
 * run.
 */
function endStep(
  run: Run,
  event: StepEndEvent,
  settle: (agent: Agent, step: RunningStatus) => Partial<Agent>,
): Run {
  const agent = run.agents.get(event.agent);
  if (agent?.status.kind !== 'running') return run;
  const { usd } = event.cost;
  const isPriced = isEstimate(event.cost);
  // A turn that broke off before it cost anything shows no price.
  const hasPrice = event.type === 'step-ended' || usd > 0;
  const isTurn = agent.status.session !== undefined;
  const { state, reservedUsd = Infinity } = agent.status;
  // A whole turn costs more than its part. Each new part is larger, because some states begin again.
  const isCut = event.type === 'step-interrupted' && usd >= reservedUsd;
  const failure = event.type === 'step-failed' ? event.failure : undefined;
  const isKept =
    event.type === 'step-ended' ||
    (event.type === 'step-interrupted' && event.repeat === 'continue');
  const settled = changedAgent(agent, settle(agent, agent.status), {
    words: wordsAfter(agent.words, event.step, isKept),
    costUsd: agent.costUsd + usd,
    isPriced: agent.isPriced || isPriced,
    worktree: agent.worktree && seenAt(agent.worktree, event),
    status: { kind: 'deciding', task: agent.status.task, failure },
  });
  return put(run, agent, settled, {
    totalCostUsd: run.totalCostUsd + usd,
    isPriced: run.isPriced || isPriced,
    ...(event.notes && { notes: withChanges(run.notes, event.notes, event) }),
    ...(isTurn && hasPrice && pricesWith(run, visitKey(agent.workflow, state), usd, isCut)),
  });
}

function pricesWith({ dearestTurnUsd, turnCosts }: Run, key: string, usd: number, isCut: boolean) {
  const expected = Math.max(turnCosts.get(key) ?? 0, isCut ? 2 * usd : usd);
  return {
    dearestTurnUsd: Math.max(dearestTurnUsd ?? 0, usd),
    turnCosts: expected === turnCosts.get(key) ? turnCosts : turnCosts.set(key, expected),
  };
}

/** A step that has ended had its tree, even if somebody has deleted it meanwhile. */
function seenAt(worktree: AgentWorktree, { type, worktree: look }: StepEndEvent): AgentWorktree {
  const isSeen = look !== undefined && (!look.missing || type === 'step-ended');
  return { ...worktree, look, wasSeen: worktree.wasSeen || isSeen };
}

/** A judge and a filling model have their own sessions. Version 1 did not repeat the session at the end of a step. */
function sessionAfter(
  agent: Agent,
  { session, task, executor, lane }: RunningStatus,
  event: StepEndEvent,
): Session {
  const left = event.session ?? session;
  if (!left || task.kind === 'judge' || task.kind === 'fill') return agent.session;
  const { contextTokens: tokens } = event;
  const owner = ownerOf({ executor, lane: lane && laneName(lane) });
  return { kind: 'open', id: left.id, ...owner, ...(tokens !== undefined && { tokens }) };
}
