/** An agent as it was at a moment, in the form in which it can continue from there. */
import type { AgentState, EndedAgentState } from '../model/agent-state.ts';
import type { Session, Task } from '../model/event.ts';
import type { Agent, AgentStatus, EndedAgent } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import { ownerOf } from './change-agent.ts';
import type { Moment, Past } from './past.ts';

export interface Restoring {
  readonly past: Past;
  readonly moment: Moment;
  /** The time of the rewind. */
  readonly at: number;
  /** Sessions that cannot be cut off are added here. */
  readonly uncut: string[];
}

/** `started` is the event after which the agent's sessions must have no messages. */
export function restoredAgent(
  restoring: Restoring,
  agent: Agent,
  started: number,
  isWorktreeGone: boolean,
): AgentState {
  const { id, parent, workflow, state, cwd, worktree, variables, choices, visits, entries } = agent;
  const { attempts, retries, workers, input, entered, previousTry, filled } = agent;
  const { joined, answerFiles } = agent;
  const cut = (session: Session) => cutSession(restoring, session, started);
  const used = { attempts, retries, workers, visits, entries };
  return {
    ...{ id, workflow, state, cwd, variables, choices, ...used },
    ...(agent.withheld.length > 0 && { withheld: agent.withheld }),
    ...(parent !== undefined && { parent }),
    session: cut(agent.session),
    stack: agent.stack.map((frame) => ({ ...frame, session: cut(frame.session) })),
    ...(worktree && { worktree: worktreeState(worktree, isWorktreeGone) }),
    ...(input !== undefined && { input }),
    ...(filled && { filled }),
    ...(entered !== undefined && { entered }),
    ...(previousTry !== undefined && { previousTry }),
    ...(joined && { joined }),
    ...(answerFiles && { answerFiles }),
    // A step that is repeated no longer has them.
    ...(agent.words.length > 0 && { words: agent.words.map(({ given: _, ...words }) => words) }),
    status: restingStatus(restoring, agent.status, started),
  };
}

export function restoredEnd(id: string, agent: EndedAgent): EndedAgentState {
  const { at, parent, workflow, state, variables, end, worktree, words } = agent;
  return {
    ...{ id, at, workflow, state, variables, end },
    ...(parent !== undefined && { parent }),
    ...(words && { words }),
    ...(worktree && { worktree: { ...worktreeState(worktree, false), fate: worktree.fate } }),
  };
}

/** A worktree that was removed meanwhile is made again. */
function worktreeState(
  { branch, tree, look, wasSeen }: NonNullable<Agent['worktree']>,
  isGone: boolean,
): NonNullable<AgentState['worktree']> {
  return { branch, ...(tree && { tree }), ...(look && { look }), wasSeen: wasSeen && !isGone };
}

/** A session that was continued after the moment has messages that the agent must not remember. */
function cutSession(restoring: Restoring, session: Session, started: number): Session {
  if (session.kind === 'none') return session;
  if (session.kind === 'branch' && session.at !== undefined) return session;
  const from = session.kind === 'open' ? session.id : session.from;
  if (!isContinuedSince(restoring, from, started)) return session;
  const at = restoring.moment.checkpoints.get(from);
  if (at === undefined) restoring.uncut.push(from);
  return { kind: 'branch', from, ...(at !== undefined && { at }), ...ownerOf(session) };
}

function isContinuedSince({ past }: Restoring, session: string, started: number): boolean {
  return (past.continued.get(session) ?? 0) >= started;
}

/** Times begin again: the person or the children get as long as they had at first. */
function restingStatus(
  restoring: Restoring,
  status: AgentStatus,
  started: number,
): AgentState['status'] {
  const { at } = restoring;
  switch (status.kind) {
    case 'ready':
      return { kind: 'ready', task: restoredTask(restoring, status.task, started) };
    case 'waiting':
      return { ...status, task: restoredTask(restoring, status.task, started) };
    case 'asking': {
      const { kind, question, next, askedAt, deadline, timeoutNext, approval, ...more } = status;
      const { files, accept } = more;
      return {
        ...{ kind, question, next },
        ...(deadline !== undefined && { deadline: at + deadline - askedAt }),
        ...(timeoutNext !== undefined && { timeoutNext }),
        ...(approval && { approval }),
        ...(files && { files }),
        ...(accept && { accept }),
      };
    }
    case 'joining': {
      const { join, since } = status;
      const { deadline } = join;
      const again = deadline === undefined ? {} : { deadline: at + deadline - since };
      return { kind: 'joining', join: { ...join, ...again } };
    }
    case 'failed': {
      const { kind, task, failure, join } = status;
      return { kind, task, failure, ...(join && { join }) };
    }
    case 'running':
    case 'deciding':
      // The planner takes the agent as it was before the step.
      return { kind: 'ready', task: status.task };
    default:
      return unreachable(status);
  }
}

/** A reminded judge, or a reminded filler, whose conversation went on is asked again from the beginning. */
function restoredTask(restoring: Restoring, task: Task, started: number): Task {
  if ((task.kind !== 'judge' && task.kind !== 'fill') || !task.reminder) return task;
  if (!isContinuedSince(restoring, task.reminder.session, started)) return task;
  if (task.kind === 'fill') return { kind: 'fill' };
  const { kind, evaluator, output, tags, unmet } = task;
  return { kind, evaluator, output, tags, ...(unmet && { unmet }) };
}
