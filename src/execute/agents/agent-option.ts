/** The options for agents, without their declarations: most commands know the options and load no schema. */
import type { AgentChoice, Choices } from '../../model/agent.ts';
import type { OptionSpec } from '../../model/option.ts';
import { KNOWN_ACP } from '../acp/known.ts';
import { CLAUDE_OPTIONS } from '../claude/options.ts';
import { CODEX_OPTIONS } from '../codex/options.ts';

/** The agents that have their own dialect. */
export const BUILT_IN_AGENTS = ['claude', 'codex'] as const;

/** The names of all agents that Raymond knows without any configuration. */
export const AGENT_NAMES: readonly string[] = [...BUILT_IN_AGENTS, ...Object.keys(KNOWN_ACP)];

export const AGENT_OPTION: OptionSpec = {
  name: 'agent',
  kind: 'text',
  placeholder: 'name',
  meaning: `agent for workflows and states that name none, or several in order: ${AGENT_NAMES.join(', ')} (default claude), or one of the config file`,
  example: '"claude"',
  known: AGENT_NAMES,
  hasAlternatives: true,
  // The files of a project may command that agent.
  inProject: 'dangerous',
};

/** It is one of the choices of a run, so that a resume keeps it. It permits nothing. */
export const AGENT_CHOICE: AgentChoice = { name: 'agent', option: AGENT_OPTION, isHarmless: true };

/** The choices that are options, as the declarations have them. */
export const AGENT_CHOICES: readonly AgentChoice[] = [
  AGENT_CHOICE,
  ...Object.entries({ ...CLAUDE_OPTIONS, ...CODEX_OPTIONS }).map(
    ([name, option]: [string, OptionSpec]) => ({ name, option }),
  ),
];

/** The agents that a user chose for a run, in order; undefined if none. */
export function chosenAgents({ agent }: Choices = {}): readonly string[] | undefined {
  const names = [agent ?? []].flat().filter((name) => typeof name === 'string' && name !== '');
  return names.length > 0 ? names.map(String) : undefined;
}
