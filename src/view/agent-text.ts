import { laneName } from '../model/agent.ts';
import type { Task } from '../model/event.ts';
import { type Doing, isDoing } from '../model/now.ts';
import type { Agent, AgentEnd, OpenRequest, RunningStatus } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import { doingText } from '../observe/doing-text.ts';
import type { Piece, Tone } from '../observe/screen.ts';
import { callText, elapsed, oneLine, waitText } from '../observe/words.ts';
import type { Listed } from './chosen-agents.ts';

/** The name of an agent with its own variables. */
export function whoText(id: string, { variables }: Pick<Agent, 'variables'>): string {
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return oneLine([id, ...pairs].join(' '), LONGEST_WHO);
}

const LONGEST_WHO = 60;

/** The state, and after it the states to which its calls return: `CHECK.md ‹ REVIEW ‹ MERGE`. */
export function stateText({
  state,
  stack,
  status,
}: Pick<Agent, 'state' | 'stack'> & { readonly status?: Agent['status'] }): string {
  const lane = status?.kind === 'running' ? status.lane : undefined;
  const taken = lane ? [`${state} by ${laneName(lane)}`] : [state];
  const returns = stack.map((frame) => frame.state.replace(/\.[^.]+$/, '')).reverse();
  return oneLine([...taken, ...returns].join(' ‹ '), LONGEST_STATE);
}

const LONGEST_STATE = 40;

export interface AgentText {
  readonly text: string;
  readonly tone: Tone;
  readonly mark: Mark;
}

/** The first character of a row. Its colour has the same meaning everywhere. */
export const MARKS = {
  works: { text: '●', tone: 'plain' },
  waits: { text: '○', tone: 'faint' },
  retries: { text: '↻', tone: 'warning' },
  asks: { text: '?', tone: 'warning' },
  failed: { text: '✗', tone: 'bad' },
  ended: { text: '✓', tone: 'good' },
} as const satisfies Record<string, Piece>;

export type Mark = keyof typeof MARKS;

export interface TextFrame {
  readonly now: number;
  readonly doing: Doing | undefined;
  /** Its question is shown below, so its row does not repeat it. */
  readonly isAskedBelow: boolean;
  readonly isLost?: boolean | undefined;
}

/** The activity of an agent, or the reason why it waits, or how it ended. */
export function agentText(listed: Listed, frame: TextFrame): AgentText {
  if (listed.kind === 'ended') return endText(listed.agent.end);
  const { status } = listed.agent;
  const wait = listed.kind === 'waiting' ? listed.wait : undefined;
  const { now } = frame;
  const left = (until: number | undefined) =>
    until === undefined ? '' : ` (${elapsed(until - now)} left)`;
  const waits = (more = ''): AgentText => ({
    text: `${wait ? waitText(wait, now) : 'ready'}${more}`,
    tone: 'faint',
    mark: 'waits',
  });
  const asks = (text: string): AgentText => ({ text, tone: 'warning', mark: 'asks' });
  switch (status.kind) {
    case 'ready':
    case 'deciding':
      return waits();
    case 'running': {
      const [request] = status.requests;
      if (frame.isLost) return { text: LOST, tone: 'warning', mark: 'failed' };
      if (request) return asks(frame.isAskedBelow ? 'asks you' : requestText(request));
      if (wait) return waits();
      const text = runningText(listed.agent, status, frame.doing);
      return { text, tone: 'plain', mark: 'works' };
    }
    case 'waiting':
      return {
        text: `retries in ${elapsed(status.until - now)}: ${status.failure.message}`,
        tone: 'warning',
        mark: 'retries',
      };
    case 'asking':
      return asks(
        frame.isAskedBelow ? 'asks you' : `asks${left(status.deadline)}: ${status.question}`,
      );
    case 'joining':
      return wait
        ? waits(left(status.join.deadline))
        : { ...waits(), text: 'stops its other child agents' };
    case 'failed':
      return { text: `failed: ${status.failure.message}`, tone: 'bad', mark: 'failed' };
    default:
      return unreachable(status);
  }
}

const LOST = 'was working when its process ended';

function endText(end: AgentEnd): AgentText {
  switch (end.kind) {
    case 'ended':
      return { text: `ended: ${end.result}`, tone: 'faint', mark: 'ended' };
    case 'failed':
      return { text: `failed: ${end.failure.message}`, tone: 'bad', mark: 'failed' };
    case 'stopped':
      return { text: 'was stopped by a join', tone: 'faint', mark: 'waits' };
    case 'rewound':
      return { text: 'is gone: the run was rewound', tone: 'faint', mark: 'waits' };
    default:
      return unreachable(end);
  }
}

function requestText(request: OpenRequest): string {
  const { isQuestion, input } = request;
  return isQuestion ? `asks: ${input}` : `asks permission: ${callText(request)}`;
}

const LONGEST_DOING = 200;

function runningText(agent: Agent, status: RunningStatus, doing: Doing | undefined): string {
  if (agent.stoppedBy !== undefined) return `is stopped by the join of ${agent.stoppedBy}`;
  const newest = isDoing(agent, doing) ? doingText(doing, LONGEST_DOING) : '';
  return relativeTo(agent.cwd, newest) || taskText(status.task, status.session !== undefined);
}

/** Paths in the directory of the agent, without that directory. */
export function relativeTo(cwd: string, text: string): string {
  return cwd.length > 1 ? text.replaceAll(`${cwd}/`, '') : text;
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
    case 'handover':
      return 'writes a handover';
    case 'fill':
      return 'is filled by a model';
    default:
      return unreachable(task);
  }
}
