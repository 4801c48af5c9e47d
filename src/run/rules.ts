/** The rules under which a step runs: whether one that still runs may do more than is allowed now. */
import type { AgentDeclaration, Choices } from '../model/agent.ts';
import type { Run } from '../model/run.ts';
import type { Step } from '../ports.ts';

export interface Rules {
  readonly choices: Choices;
  /** Of the whole run; 0 is unlimited. */
  readonly budgetUsd: number;
}

/** None for a script, which no setting limits. */
export function rulesOf({ settings }: Run, step: Step): Rules | undefined {
  if (step.kind === 'script') return undefined;
  return { choices: step.choices, budgetUsd: settings.budgetUsd };
}

/** Why a step that was begun under other rules must not go on under them; undefined when it may. */
export function tightened(was: Rules, now: Rules, agent: AgentDeclaration): string | undefined {
  if (now.budgetUsd > 0 && (was.budgetUsd === 0 || now.budgetUsd < was.budgetUsd))
    return `the budget is $${now.budgetUsd.toFixed(2)}`;
  return agent.tightened(was.choices, now.choices);
}
