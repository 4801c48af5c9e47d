/** The ends of steps that no executor gives. */
import type { FailureKind } from '../model/failure.ts';
import type { StepEnded } from '../model/input.ts';
import { messageOf } from '../model/message-of.ts';
import type { Run } from '../model/run.ts';
import { NO_COST } from '../model/step-account.ts';
import type { RunningStep, StepKey, StepKind } from '../ports.ts';

const account = { cost: NO_COST };
const INTERRUPTED = { kind: 'interrupted', sessionUsable: false, account } as const;

const failed = (kind: FailureKind, message: string) =>
  ({ kind: 'failed', failure: { kind, message }, account }) as const;

/** A step that was stopped before it began. */
export const interruptedStep = (): RunningStep => over(INTERRUPTED);

/** A step that cannot begin. */
export const failedStep = (error: unknown, kind: FailureKind = 'crashed'): RunningStep =>
  over(failed(kind, messageOf(error)));

const over = (outcome: Awaited<RunningStep['outcome']>): RunningStep => ({
  ...{ outcome: Promise.resolve(outcome), stop: () => {} },
});

/** A step that no process has begun, or a prompt that is repeated. */
export function withdrawnEnd({ agent, step }: StepKey, at: number): StepEnded {
  return { kind: 'step-ended', at, agent, step, outcome: INTERRUPTED };
}

/** A step whose worker has died, and which cannot be adopted. */
export function lostEnd(
  lost: StepKey & { readonly kind: StepKind },
  run: Run,
  at: number,
): StepEnded {
  if (lost.kind === 'prompt') return withdrawnEnd(lost, at);
  const { agent, step } = lost;
  const state = run.agents.get(agent)?.state ?? 'the script';
  const message = `It is unknown how ${state} ended: its worker died. Raymond repeats a script once in this case. If this happens again, check what the script has done, then run: raymond resume ${run.id}`;
  return { kind: 'step-ended', at, agent, step, outcome: failed('lost', message) };
}
