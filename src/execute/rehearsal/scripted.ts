import type { Failure } from '../../model/failure.ts';
import { messageOf } from '../../model/message-of.ts';
import type { Account } from '../../model/step-account.ts';
import type { Executor, RunningStep, Step, StepOutcome } from '../../ports.ts';
import { answerRef } from '../steps/answer-ref.ts';
import { failed, INTERRUPTED } from '../turn/outcomes.ts';

/** The answer of a scripted step: its text, or an outcome of another kind. */
export type ScriptedAnswer =
  | string
  | {
      readonly text: string;
      readonly costUsd?: number;
      /** The size of the session after the step. */
      readonly contextTokens?: number;
      readonly denied?: readonly string[];
      /** The exit code of a check. */
      readonly exit?: number;
    }
  | { readonly failure: Failure; readonly costUsd?: number };

/** Plays the agent from a script: no process, no model, and only the cost that the script names. */
export function scriptedAgent(
  answerFor: (step: Step) => ScriptedAnswer | Promise<ScriptedAnswer>,
  name = 'scripted',
): Executor {
  const play = (step: Step): RunningStep => {
    let stop = () => {};
    const stopped = new Promise<StepOutcome>((resolve) => {
      stop = () => resolve(INTERRUPTED);
    });
    const answer = Promise.resolve(step)
      .then(answerFor)
      .then((answer) => toOutcome(step, answer), toFailure);
    return { outcome: Promise.race([answer, stopped]), stop };
  };
  return { name, start: play, adopt: play, close: async () => {} };
}

function toOutcome(step: Step, answer: ScriptedAnswer): StepOutcome {
  const scripted = typeof answer === 'string' ? { text: answer } : answer;
  const tokens = 'contextTokens' in scripted ? scripted.contextTokens : undefined;
  const account: Account = {
    ...(tokens !== undefined && { contextTokens: tokens }),
    cost: { usd: scripted.costUsd ?? 0, from: 'told' },
    // It remembers nothing, so every message is as good as another.
    ...(step.kind === 'prompt' && {
      session: { id: step.session.id, checkpoint: `step ${step.number}` },
    }),
  };
  if ('failure' in scripted) return { kind: 'failed', failure: scripted.failure, account };
  const { text, exit, denied = [] } = scripted;
  const said = { output: text, answer: answerRef(text), ...(exit !== undefined && { exit }) };
  return { kind: 'answered', ...said, denied, account };
}

function toFailure(error: unknown): StepOutcome {
  return failed({ kind: 'refused', message: messageOf(error) });
}
