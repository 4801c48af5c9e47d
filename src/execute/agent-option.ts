import type { AgentChoice, Choices } from '../model/agent.ts';
import type { OptionSpec } from '../model/option.ts';

/** The names of all agents. */
export const AGENT_NAMES = ['claude', 'codex'] as const;

export const AGENT_OPTION: OptionSpec = {
  name: 'agent',
  kind: 'text',
  placeholder: 'name',
  meaning: `agent for workflows and states that name none: ${AGENT_NAMES.join(', ')} (default claude)`,
  example: '"claude"',
  known: AGENT_NAMES,
  inProject: 'harmless',
};

/** It is one of the choices of a run, so that a resume keeps it. It permits nothing. */
export const AGENT_CHOICE: AgentChoice = { name: 'agent', option: AGENT_OPTION, isHarmless: true };

/** The agent that a user chose for a run; undefined if none. */
export function chosenAgent({ agent }: Choices = {}): string | undefined {
  return typeof agent === 'string' && agent !== '' ? agent : undefined;
}
