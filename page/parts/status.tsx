/** How a status looks: a colour, a shape and a word, so that no one depends on the colour. */
import type { AgentShape, AgentStatusShape, RunRow } from '../../src/look/run-shape.ts';
import type { StepRow } from '../../src/look/step-list.ts';
import { oneLine } from '../lib/words.ts';

type Toned = Pick<RunRow, 'status'>;

export type Tone = 'run' | 'wait' | 'fail' | 'done' | 'rest';

export function runTone(run: Toned): Tone {
  switch (run.status) {
    case 'running':
    case 'stopping':
      return 'run';
    case 'waiting':
    case 'paused':
      return 'wait';
    case 'failed':
    case 'crashed':
    case 'damaged':
      return 'fail';
    case 'completed':
      return 'done';
    case 'interrupted':
    case 'stopped':
      return 'rest';
  }
}

/** The status in words. A stop of a person is no accident. */
export const runWord = ({ status, condition }: Pick<RunRow, 'status' | 'condition'>): string =>
  status === 'interrupted' ? 'stopped by you' : oneLine(condition, 60);

export function agentTone(status: AgentStatusShape): Tone {
  switch (status.kind) {
    case 'running':
      if (status.queued) return 'rest';
      return status.requests.length > 0 ? 'wait' : 'run';
    case 'asking':
    case 'waiting':
      return 'wait';
    case 'failed':
      return 'fail';
    case 'ended':
      return 'done';
    default:
      return 'rest';
  }
}

export const STEP_TONES: Readonly<Record<StepRow['status'], Tone>> = {
  ended: 'done',
  failed: 'fail',
  interrupted: 'rest',
  'not over': 'run',
};

const AGENT_WORDS: Readonly<Record<AgentStatusShape['kind'], string>> = {
  ready: 'ready',
  running: 'running',
  waiting: 'retries soon',
  asking: 'asks you',
  joining: 'waits for child agents',
  failed: 'failed',
  ended: 'ended',
  stopped: 'stopped',
};

export function agentWord({ status }: AgentShape): string {
  if (status.kind === 'asking' && status.answered) return 'answered';
  if (status.kind === 'running' && status.requests.length > 0) return 'asks permission';
  if (status.kind === 'running' && status.queued) return 'queued';
  return AGENT_WORDS[status.kind];
}

export function Pill({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span class={`pill tone-${tone}`}>
      <Mark tone={tone} />
      {children}
    </span>
  );
}

export function Mark({ tone }: { readonly tone: Tone }) {
  return (
    <svg class="mark" viewBox="0 0 10 10" aria-hidden="true">
      {SHAPES[tone]}
    </svg>
  );
}

const SHAPES = {
  run: (
    <g class="turning" fill="none" stroke-width="2">
      <path d="M5 1a4 4 0 1 1-4 4" />
    </g>
  ),
  wait: <path d="M2.2 1v8M7.8 1v8" stroke-width="2.4" />,
  fail: <path d="m1.5 1.5 7 7m0-7-7 7" stroke-width="2.2" />,
  done: <path d="m1 5.5 2.8 2.8L9 2" fill="none" stroke-width="2.2" />,
  rest: <rect x="1.5" y="1.5" width="7" height="7" rx="1.5" stroke="none" />,
} as const;
