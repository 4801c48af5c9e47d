import type { AgentChoice, AgentDeclaration, Agents, Choices } from '../../model/agent.ts';
import type { ConfiguredAgents } from '../../model/configured-agent.ts';
import type { OptionSpec } from '../../model/option.ts';
import { acpAgent } from '../acp/declaration.ts';
import { KNOWN_ACP, type KnownAgent } from '../acp/known.ts';
import { DEFAULTS } from '../claude/choices.ts';
import { claudeAgent } from '../claude/declaration.ts';
import { codexAgent } from '../codex/declaration.ts';

/** The agents that have their own dialect. */
export const BUILT_IN_AGENTS = ['claude', 'codex'] as const;
const OWN_AGENTS: readonly AgentDeclaration[] = [claudeAgent, codexAgent];

/** The names of all agents that Raymond knows without any configuration. */
export const AGENT_NAMES: readonly string[] = [...BUILT_IN_AGENTS, ...Object.keys(KNOWN_ACP)];

export const AGENT_OPTION: OptionSpec = {
  name: 'agent',
  kind: 'text',
  placeholder: 'name',
  meaning: `agent for workflows and states that name none: ${AGENT_NAMES.join(', ')} (default claude), or one of the config file`,
  example: '"claude"',
  known: AGENT_NAMES,
  // The files of a project may command that agent.
  inProject: 'dangerous',
};

/** It is one of the choices of a run, so that a resume keeps it. It permits nothing. */
export const AGENT_CHOICE: AgentChoice = { name: 'agent', option: AGENT_OPTION, isHarmless: true };

/** The agent that a user chose for a run; undefined if none. */
export function chosenAgent({ agent }: Choices = {}): string | undefined {
  return typeof agent === 'string' && agent !== '' ? agent : undefined;
}

/** The declarations of all agents, without their executors, which most commands need not load. */
export function agentsWith(configured: ConfiguredAgents = {}): Agents {
  return {
    all: [...OWN_AGENTS, ...acpAgents(configured)],
    usual: claudeAgent.name,
    choice: AGENT_CHOICE,
    defaults: DEFAULTS,
  };
}

/** Those that Raymond knows without any configuration. */
export const AGENTS: Agents = agentsWith();

function acpAgents(configured: ConfiguredAgents): readonly AgentDeclaration[] {
  return Object.entries(acpCommands(configured)).map(([name, command]) =>
    withKnownCost(acpAgent({ ...command, name }), configured),
  );
}

/**
 * An agent of the user may report no tokens, and only a run shows it. If the user has priced them,
 * it does.
 */
function withKnownCost(agent: AgentDeclaration, configured: ConfiguredAgents): AgentDeclaration {
  if (Object.hasOwn(KNOWN_ACP, agent.name)) return agent;
  const isPriced = Object.keys(configured[agent.name]?.prices ?? {}).length > 0;
  return { ...agent, can: { ...agent.can, cost: isPriced ? 'tokens' : 'none' } };
}

/** The command of an agent, and what Raymond knows about it. */
export type AcpCommand = Pick<KnownAgent, 'command' | 'branch'> & Partial<KnownAgent>;

/** The agents that speak the Agent Client Protocol. The user's configuration overrides what is known. */
export function acpCommands(
  configured: ConfiguredAgents = {},
): Readonly<Record<string, AcpCommand>> {
  const own = Object.entries(configured).flatMap(([name, { command, branch }]) => {
    const known = Object.hasOwn(KNOWN_ACP, name) ? KNOWN_ACP[name] : undefined;
    const program = command ?? known?.command;
    if (!program) return [];
    // The name says which agent it is, wherever its program is.
    return [
      [name, { ...known, command: program, branch: branch ?? known?.branch ?? false }] as const,
    ];
  });
  return { ...KNOWN_ACP, ...Object.fromEntries(own) };
}
