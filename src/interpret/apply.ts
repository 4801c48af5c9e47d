/**
 * INV-5: `apply` is pure and total. Its work for one event does not depend on the number of agents,
 * except at a resume and at a rewind.
 *
 * Folds an event into a run. An event about an unknown agent changes nothing.
 */

import { changedRun } from '../model/changed.ts';
import type { LaneReason, RunEvent, RunEventOf, StackChange } from '../model/event.ts';
import type { KeptFile } from '../model/kept-file.ts';
import { withLimit, withoutLimit } from '../model/limits.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, Run } from '../model/run.ts';
import { isWorking } from '../model/tally.ts';
import { unreachable } from '../model/unreachable.ts';
import {
  joinClosed,
  joinReported,
  joinStarted,
  settle,
  stopped,
  stopRequested,
} from './apply-join.ts';
import { permissionAnswered, permissionAsked, permissionWithdrawn } from './apply-permission.ts';
import { resumed } from './apply-resume.ts';
import { begun, rewound } from './apply-rewind.ts';
import { stepEnded, stepFailed, stepInterrupted, stepStarted, stepTaken } from './apply-step.ts';
import { reminded, remindersOf, unmetOf } from './apply-task.ts';
import { begin, change, enter, put, ready, retire, setStatus, taskOf } from './change-agent.ts';
import { FIRST_AGENT, newAgent, newRun, visitKey } from './new-run.ts';
import { heard, said } from './words.ts';

export function apply(run: Run, event: RunEvent): Run {
  const { seq, updatedAt, workedMs } = run;
  const sinceMs = didWork(run, event) ? Math.max(0, event.at - updatedAt) : 0;
  const stamp = { seq: seq + 1, updatedAt: event.at, workedMs: workedMs + sinceMs };
  const next = fold(run, event);
  // A run that the event has changed is a copy already, which no other code has seen.
  return next === run ? changedRun(run, stamp) : Object.assign(next, stamp);
}

/** Whether the run worked in the time before the event. */
function didWork({ tally }: Run, { type }: RunEvent): boolean {
  return isWorking(tally) && type !== 'run-resumed';
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
    case 'step-taken':
      return stepTaken(run, event);
    case 'state-entered':
      return change(run, event.agent, (agent) => stateEntered(agent, event.digest));
    case 'step-ended':
      return stepEnded(run, event);
    case 'step-failed':
      return stepFailed(run, event);
    case 'step-interrupted':
      return stepInterrupted(run, event);
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
        ...(event.approval && { approval: event.approval }),
        ...(event.files && { files: event.files }),
        ...(event.accept && { accept: event.accept }),
      }));
    case 'answer-signed':
      return change(run, event.agent, (agent) => signedBy(agent, event));
    case 'agent-answered':
      return change(run, event.agent, (agent) => afterQuestion(agent, event.text, event.files));
    case 'question-timed-out':
      return change(run, event.agent, (agent) => afterQuestion(agent, undefined));
    case 'words-said':
      return said(run, event);
    case 'words-heard':
      return heard(run, event);
    case 'permission-asked':
      return permissionAsked(run, event);
    case 'permission-answered':
      return permissionAnswered(run, event);
    case 'permission-withdrawn':
      return permissionWithdrawn(run, event);
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
    case 'handover-called': {
      const { tag, state: next, input } = event;
      const given = input === undefined ? {} : { input };
      return change(run, event.agent, (agent) =>
        begin(agent, { kind: 'handover', tag, next, ...given }),
      );
    }
    case 'prompt-filled':
      return change(run, event.agent, (agent) =>
        begin(agent, { kind: 'state' }, { filled: event.values }),
      );
    case 'transition-overridden':
    case 'files-recorded':
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
      if (event.why !== undefined) return laneClosed(run, event, event.why);
      const limits = withLimit(run.limits, event.executor, event.until);
      if (event.next !== undefined) return laneLeft({ ...run, limits }, event.agent);
      return setStatus({ ...run, limits }, event.agent, (status) => ready(taskOf(status)));
    }
    case 'usage-limit-lifted':
      return { ...run, limits: withoutLimit(run.limits, event.executor) };
    case 'stop-requested':
      return { ...run, status: { kind: 'stopping', how: event.how, why: event.why } };
    case 'run-ended':
      return { ...run, status: { kind: 'ended', outcome: event.outcome } };
    case 'run-rewound':
      return rewound(run, event);
    case 'files-restored':
      return { ...run, restoring: [] };
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
    input: event.input,
    startedBy: event.startedBy,
    lessons: event.lessons ?? newRun.lessons,
    origin: event.origin,
    cell: event.cell,
    startedAt: event.at,
    turnCosts: PersistentMap.from(
      Object.entries(event.usualTurnsUsd ?? {}).map(([state, usd]) => [
        visitKey(event.workflow, state),
        usd,
      ]),
    ),
  };
  if (event.beginning) return begun(run, event.beginning, event.at);
  return put(run, undefined, newAgent(FIRST_AGENT, undefined, event, {}));
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
  return enter(agent, event.state, input, { workflow, session, cwd, stack, choices });
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
  const child = newAgent(event.agent, event.parent, event, event.variables, event.withheld);
  const born = put({ ...run, forkCounters }, undefined, { ...child, worktree });
  return change(born, event.parent, (parent) => ({
    ...parent,
    workers: [...parent.workers, child.id],
  }));
}

function signedBy(agent: Agent, { by, key, text }: RunEventOf<'answer-signed'>): Agent {
  const { status } = agent;
  if (status.kind !== 'asking') return agent;
  return { ...agent, status: { ...status, signed: [...(status.signed ?? []), { by, key, text }] } };
}

function afterQuestion(
  agent: Agent,
  answer: string | undefined,
  answerFiles?: readonly KeptFile[],
): Agent {
  if (agent.status.kind !== 'asking') return agent;
  const { next, timeoutNext } = agent.status;
  const state = answer === undefined ? (timeoutNext ?? next) : next;
  return enter(agent, state, answer, { choices: {}, answerFiles });
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

function laneClosed(run: Run, event: RunEventOf<'usage-limited'>, why: LaneReason): Run {
  const { agent, executor = '', until } = event;
  return laneLeft({ ...run, closed: { ...run.closed, [executor]: { why, until } } }, agent);
}

/** The next lane has its own retries. */
function laneLeft(run: Run, id: string): Run {
  return change(run, id, (agent) => ({
    ...agent,
    retries: 0,
    status: ready(taskOf(agent.status)),
  }));
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
  const { at, agent: id, result, checked, worktree } = event;
  const agent = run.agents.get(id);
  if (!agent) return run;
  const after = retire(
    run,
    agent,
    at,
    { kind: 'ended', result, ...(checked && { checked }) },
    worktree,
  );
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
