/** What the states of a run might touch, what was refused to them, and what they used. */
import type { Refusal, StepRights, UsedRight } from '../model/rights.ts';
import type { StepFacts } from './steps.ts';

export interface StateRights {
  readonly workflow: string;
  readonly state: string;
  /** Those of its newest step; undefined if it was not confined. */
  readonly rights: StepRights | undefined;
  readonly refused: readonly Refusal[];
  readonly used: readonly UsedRight[];
}

/** In the order of their first steps. */
export function stateRights(steps: readonly StepFacts[]): readonly StateRights[] {
  const byState = new Map<string, StateRights>();
  for (const { started, workflow, ended } of steps) {
    const key = JSON.stringify([workflow, started.state]);
    const known = byState.get(key);
    byState.set(key, {
      ...{ workflow, state: started.state, rights: started.rights },
      refused: distinct([...(known?.refused ?? []), ...(ended?.refused ?? [])]),
      used: distinct([...(known?.used ?? []), ...(ended?.used ?? [])]),
    });
  }
  return [...byState.values()];
}

function distinct<T extends UsedRight | Refusal>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((one) => [`${one.right} ${one.what}`, one])).values()];
}
