import { claudeAgent, runChoices } from '../execute/claude/declaration.ts';
import type { AgentDeclaration, RunChoiceRules } from '../model/agent.ts';

/** Reads the choices of a run. Every agent takes those that it offers from them. */
export const agent: RunChoiceRules & Pick<AgentDeclaration, 'choices'> = {
  ...runChoices,
  choices: claudeAgent.choices,
};
