import type { AgentDeclaration, Agents } from '../../model/agent.ts';
import type { ConfiguredAgent, ConfiguredAgents } from '../../model/configured-agent.ts';
import { acpAgent } from '../acp/declaration.ts';
import { KNOWN_ACP, type KnownAgent } from '../acp/known.ts';
import { DEFAULTS } from '../claude/choices.ts';
import { claudeAgent } from '../claude/declaration.ts';
import { claudeNeeds } from '../claude/needs.ts';
import { codexAgent } from '../codex/declaration.ts';
import { codexNeeds } from '../codex/needs.ts';
import { AGENT_CHOICE } from './agent-option.ts';

const OWN_AGENTS: readonly AgentDeclaration[] = [claudeAgent, codexAgent];

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
    withKnownCost(acpAgent({ ...command, ...hostsOf(configured[name]), name }), configured),
  );
}

/** Without them, an agent of the user cannot reach its service in a sandbox. */
function hostsOf(own: ConfiguredAgent | undefined): Pick<ConfiguredAgent, 'hosts'> {
  return own?.hosts ? { hosts: own.hosts } : {};
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
type AcpCommand = Pick<KnownAgent, 'command' | 'branch'> & Partial<KnownAgent>;

/** The agents that speak the Agent Client Protocol. The user's configuration overrides what is known. */
export function acpCommands(
  configured: ConfiguredAgents = {},
): Readonly<Record<string, AcpCommand>> {
  const all = knownAcp();
  const own = Object.entries(configured).flatMap(([name, { command, branch }]) => {
    const known = Object.hasOwn(all, name) ? all[name] : undefined;
    const program = command ?? known?.command;
    if (!program) return [];
    // The name says which agent it is, wherever its program is.
    return [
      [name, { ...known, command: program, branch: branch ?? known?.branch ?? false }] as const,
    ];
  });
  return { ...all, ...Object.fromEntries(own) };
}

/** Programs that speak the protocol for another agent need what that agent needs. */
function knownAcp(): Readonly<Record<string, KnownAgent>> {
  const served = { 'claude-acp': claudeNeeds, 'codex-acp': codexNeeds };
  const withNeeds = Object.entries(served).flatMap(([name, needs]) => {
    const known = KNOWN_ACP[name];
    return known ? [[name, { ...known, needs }] as const] : [];
  });
  return { ...KNOWN_ACP, ...Object.fromEntries(withNeeds) };
}
