/** The rules of a step. They show whether a running step may do more than is allowed now. */
import type { AgentDeclaration, Choices } from '../model/agent.ts';
import type { Run } from '../model/run.ts';
import type { Step } from '../ports.ts';

export interface Rules {
  readonly choices: Choices;
  /** The rules that people have allowed for the run. */
  readonly granted: readonly string[];
  /** The budget of the whole run; 0 is unlimited. */
  readonly budgetUsd: number;
}

/** Undefined for a script, because no setting limits it. */
export function rulesOf({ settings }: Run, step: Step): Rules | undefined {
  if (step.kind !== 'prompt') return undefined;
  return { choices: step.choices, granted: step.granted, budgetUsd: settings.budgetUsd };
}

/** Why a step that began under other rules must not continue; undefined when it may. */
export function tightened(was: Rules, now: Rules, agent: AgentDeclaration): string | undefined {
  if (now.budgetUsd > 0 && (was.budgetUsd === 0 || now.budgetUsd < was.budgetUsd))
    return `the budget is $${now.budgetUsd.toFixed(2)}`;
  if (was.granted.some((rule) => !now.granted.includes(rule)))
    return 'what was allowed for the run is no longer allowed';
  return agent.tightened(was.choices, now.choices);
}
