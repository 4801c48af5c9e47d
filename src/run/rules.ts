/** The rules of a step. They show whether a running step may do more than is allowed now. */
import type { AgentDeclaration, Choices } from '../model/agent.ts';
import type { StepRights } from '../model/rights.ts';
import type { Run } from '../model/run.ts';
import type { Step } from '../ports.ts';

export interface Rules {
  /** Absent if the step is not confined. */
  readonly rights?: StepRights | undefined;
  /** Absent for a script: no other setting limits it. */
  readonly turn?: {
    readonly choices: Choices;
    /** The rules that people have allowed for the run. */
    readonly granted: readonly string[];
    /** The budget of the whole run; 0 is unlimited. */
    readonly budgetUsd: number;
  };
}

export function rulesOf({ settings }: Run, step: Step, began?: StepRights): Rules {
  const rights = began ?? onlyRights(step.rights);
  if (step.kind !== 'prompt') return { rights };
  const { choices, granted } = step;
  return { rights, turn: { choices, granted, budgetUsd: settings.budgetUsd } };
}

function onlyRights(rights: StepRights | undefined): StepRights | undefined {
  if (!rights) return undefined;
  const { write, hide, network, secrets, learns } = rights;
  return { write, hide, network, ...(secrets && { secrets }), ...(learns && { learns }) };
}

/** Why a step that began under other rules must not continue; undefined when it may. */
export function tightened(
  was: Rules,
  now: Rules,
  agent: AgentDeclaration | undefined,
): string | undefined {
  // A resume can only narrow rights, or lift all of them.
  if (now.rights && JSON.stringify(now.rights) !== JSON.stringify(was.rights))
    return 'its rights are narrower';
  if (!was.turn || !now.turn) return undefined;
  const { budgetUsd, granted, choices } = now.turn;
  if (budgetUsd > 0 && (was.turn.budgetUsd === 0 || budgetUsd < was.turn.budgetUsd))
    return `the budget is $${budgetUsd.toFixed(2)}`;
  if (was.turn.granted.some((rule) => !granted.includes(rule)))
    return 'what was allowed for the run is no longer allowed';
  return agent?.tightened(was.turn.choices, choices);
}
