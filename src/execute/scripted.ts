import type { Failure } from '../model/failure.ts';
import type { Executor, RunningStep, Step, StepOutcome } from '../ports.ts';

/** What a scripted step says: its text, or an outcome of another kind. */
export type ScriptedAnswer =
  | string
  | { readonly text: string; readonly costUsd?: number; readonly denied?: readonly string[] }
  | { readonly failure: Failure; readonly costUsd?: number };

/** Plays the agent from a script: no process, no model, no cost but what the script says. */
export function scriptedAgent(
  answerFor: (step: Step) => ScriptedAnswer | Promise<ScriptedAnswer>,
): Executor {
  const play = (step: Step): RunningStep => {
    let stop = () => {};
    const stopped = new Promise<StepOutcome>((resolve) => {
      stop = () => resolve({ kind: 'interrupted', costUsd: 0, sessionUsable: false });
    });
    const answer = Promise.resolve(step).then(answerFor).then(toOutcome, toFailure);
    return { outcome: Promise.race([answer, stopped]), stop };
  };
  return { start: play, adopt: play, close: async () => {} };
}

function toOutcome(answer: ScriptedAnswer): StepOutcome {
  if (typeof answer === 'string')
    return { kind: 'answered', output: answer, costUsd: 0, denied: [] };
  const costUsd = answer.costUsd ?? 0;
  if ('failure' in answer) return { kind: 'failed', failure: answer.failure, costUsd };
  return { kind: 'answered', output: answer.text, costUsd, denied: answer.denied ?? [] };
}

export function toFailure(error: unknown): StepOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', failure: { kind: 'refused', message }, costUsd: 0 };
}
