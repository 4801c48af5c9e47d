/** How steps end that no process executes any more. */
import type { StepEnded } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { NO_COST } from '../model/step-account.ts';
import type { StepKey, StepKind } from '../ports.ts';

/** It had not begun, or its prompt is repeated. */
export function withdrawnEnd({ agent, step }: StepKey, at: number): StepEnded {
  const outcome = {
    kind: 'interrupted',
    sessionUsable: false,
    account: { cost: NO_COST },
  } as const;
  return { kind: 'step-ended', at, agent, step, outcome };
}

/** The end of a step whose worker has died, and which cannot be adopted. */
export function lostEnd(
  lost: StepKey & { readonly kind: StepKind },
  run: Run,
  at: number,
): StepEnded {
  if (lost.kind === 'prompt') return withdrawnEnd(lost, at);
  const { agent, step } = lost;
  const state = run.agents.get(agent)?.state ?? 'the script';
  const message = `It is unknown how ${state} ended: its worker died. Raymond repeats a script once in this case. If this happens again, check what the script has done, then run: raymond resume ${run.id}`;
  const failure = { kind: 'lost', message } as const;
  const outcome = { kind: 'failed', failure, account: { cost: NO_COST } } as const;
  return { kind: 'step-ended', at, agent, step, outcome };
}
