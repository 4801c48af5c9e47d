import type { Task } from '../model/event.ts';
import { type Doing, isDoing } from '../model/now.ts';
import type { Agent, OpenRequest, RunningStatus } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Wait } from '../model/wait.ts';
import { doingText } from '../observe/doing-text.ts';
import type { Tone } from '../observe/screen.ts';
import { callText, elapsed, oneLine, waitText } from '../observe/words.ts';

/** The name of an agent with its own variables. */
export function whoText({ id, variables }: Agent): string {
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return oneLine([id, ...pairs].join(' '), LONGEST_WHO);
}

const LONGEST_WHO = 60;

export interface AgentText {
  readonly text: string;
  readonly tone: Tone;
  /** When its activity began; absent if that has no duration. */
  readonly since?: number;
}

export interface TextFrame {
  readonly now: number;
  readonly wait: Wait | undefined;
}

/** The activity of an agent, or the reason why it waits. */
export function agentText(agent: Agent, doing: Doing | undefined, frame: TextFrame): AgentText {
  const { status } = agent;
  const { now, wait } = frame;
  const left = (until: number | undefined) =>
    until === undefined ? '' : ` (${elapsed(until - now)} left)`;
  switch (status.kind) {
    case 'ready':
      return { text: wait ? waitText(wait, now) : 'ready', tone: 'faint' };
    case 'running':
      if (status.requests[0]) return requestText(status.requests[0]);
      if (wait) return { text: waitText(wait, now), tone: 'faint', since: status.startedAt };
      return { text: runningText(agent, status, doing), tone: 'plain', since: status.startedAt };
    case 'deciding':
      return { text: 'ready', tone: 'faint' };
    case 'waiting':
      return {
        text: `retries in ${elapsed(status.until - now)}: ${status.failure.message}`,
        tone: 'warning',
      };
    case 'asking':
      return {
        text: `asks${left(status.deadline)}: ${status.question}`,
        tone: 'warning',
        since: status.askedAt,
      };
    case 'joining': {
      const text = wait ? waitText(wait, now) : 'stops its other child agents';
      const rest = wait ? left(status.join.deadline) : '';
      return { text: `${text}${rest}`, tone: 'faint', since: status.since };
    }
    case 'failed':
      return { text: `failed: ${status.failure.message}`, tone: 'bad' };
    default:
      return unreachable(status);
  }
}

function requestText(request: OpenRequest): AgentText {
  const { askedAt: since, isQuestion, input } = request;
  const text = isQuestion ? `asks: ${input}` : `asks permission: ${callText(request)}`;
  return { text, tone: 'warning', since };
}

const LONGEST_DOING = 200;

function runningText(agent: Agent, status: RunningStatus, doing: Doing | undefined): string {
  if (agent.stoppedBy !== undefined) return `is stopped by the join of ${agent.stoppedBy}`;
  const newest = isDoing(agent, doing) ? doingText(doing, LONGEST_DOING) : '';
  return newest || taskText(status.task, status.session !== undefined);
}

/** For a step of which nothing is known yet. Scripts report only what they print. */
function taskText(task: Task, isPrompt: boolean): string {
  switch (task.kind) {
    case 'state':
      return isPrompt ? 'works' : 'runs';
    case 'reminder':
      return 'works after a reminder';
    case 'continuation':
      return 'continues after an interruption';
    case 'judge':
      return 'is judged by an evaluator';
    case 'check':
      return 'is checked';
    default:
      return unreachable(task);
  }
}
