/** The outcomes that every executor needs. */
import type { Failure } from '../../model/failure.ts';
import { messageOf } from '../../model/message-of.ts';
import { type Account, NO_COST } from '../../model/step-account.ts';
import type { RunningStep, StepOutcome } from '../../ports.ts';

export const FREE: Account = { cost: NO_COST };

/** The step did not begin, or another Raymond process follows it. */
export const INTERRUPTED: StepOutcome = {
  kind: 'interrupted',
  sessionUsable: false,
  account: FREE,
};

export function failed(failure: Failure, account: Account = FREE): StepOutcome {
  return { kind: 'failed', failure, account };
}

export function crashed(error: unknown): StepOutcome {
  return failed({ kind: 'crashed', message: messageOf(error) });
}

/** A step that is over before it began. */
export function ended(outcome: StepOutcome): RunningStep {
  return { outcome: Promise.resolve(outcome), stop: () => {} };
}

/** A step that begins when something else is done. */
export function after<T>(done: Promise<T>, begin: (value: T) => RunningStep): RunningStep {
  let stopped: 'stop' | 'leave' | undefined;
  const running = done.then((value) => (stopped ? ended(INTERRUPTED) : begin(value)));
  const outcome = running.then((step) => step.outcome).catch(crashed);
  const end = (how: 'stop' | 'leave') => {
    stopped ??= how;
    void running.then((step) => (how === 'leave' && step.leave ? step.leave() : step.stop()));
  };
  return {
    outcome,
    stop: () => end('stop'),
    decide: (request, decision) => void running.then((step) => step.decide?.(request, decision)),
    leave: () => end('leave'),
  };
}
