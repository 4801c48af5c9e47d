/** Checks the programs of the agents that are chosen, configured or used here. Spends nothing. */
import { dirname } from 'node:path';
import { checkAcp } from '../../execute/acp/health.ts';
import { chosenAgents } from '../../execute/agents/agent-option.ts';
import { acpCommands, agentsWith } from '../../execute/agents/agents.ts';
import type { Check } from '../../execute/agents/program-checks.ts';
import { claudeAgent } from '../../execute/claude/declaration.ts';
import { checkClaude, checkTrust } from '../../execute/claude/health.ts';
import { codexAgent } from '../../execute/codex/declaration.ts';
import { checkCodex } from '../../execute/codex/health.ts';
import { findWorkflows } from '../../load/find-workflows.ts';
import type { AgentDeclaration } from '../../model/agent.ts';
import { UserError } from '../../model/user-error.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { agentsOf } from '../../parse/chosen-agent.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { looseLibrary, programIn } from '../../world/wire.ts';

export async function checkAgentPrograms(
  around: Surroundings,
  config: RunOptions,
): Promise<readonly Check[]> {
  const usual = chosenAgents(config.agent) ?? [claudeAgent.name];
  const needed = new Set([...usual, ...Object.keys(config.agents ?? {})]);
  if (config.agent?.codexPath !== undefined) needed.add(codexAgent.name);
  const used = await usedAgents(around, config);
  const agents = agentsWith(config.agents);
  const checks = agents.all
    // Other agents need not be installed, and a start takes time.
    .filter(({ name }) => isBuiltIn(name) || needed.has(name) || used.has(name))
    .map((agent) =>
      checkAgent(agent, around, config, needed.has(agent.name), used.get(agent.name)),
    );
  return (await Promise.all(checks)).flat();
}

const isBuiltIn = (name: string) => name === claudeAgent.name || name === codexAgent.name;

/** The agents that workflows below the working directory name, each with one of these workflows. */
async function usedAgents(
  { cwd }: Surroundings,
  config: RunOptions,
): Promise<ReadonlyMap<string, string>> {
  const used = new Map<string, string>();
  for (const path of (await findWorkflows(cwd)).slice(0, MOST_WORKFLOWS)) {
    const workflow = await looseLibrary(cwd, config)
      .load(path)
      .catch((error: unknown) => {
        if (!(error instanceof UserError)) throw error;
      });
    for (const state of workflow?.states.values() ?? []) {
      if (workflow && state.kind === 'prompt')
        for (const name of agentsOf(workflow, state)) used.set(name, path);
    }
  }
  return used;
}

const MOST_WORKFLOWS = 100;

async function checkAgent(
  agent: AgentDeclaration,
  { project }: Surroundings,
  config: RunOptions,
  isNeeded: boolean,
  usedBy: string | undefined,
): Promise<readonly Check[]> {
  const { name } = agent;
  const found = await checkProgram(agent, dirname(project.folder), config);
  const [first] = found;
  if (found.length === 1 && first?.verdict === 'problem' && !isNeeded) {
    if (usedBy === undefined) return [];
    return [{ ...first, verdict: 'warning', fact: `${first.fact} ${usedBy} uses it.` }];
  }
  const isHere = found.some((check) => check.name === name && check.verdict !== 'problem');
  return isHere ? [...found, abilitiesOf(agent)] : found;
}

async function checkProgram(
  agent: AgentDeclaration,
  folder: string,
  { agent: chosen, agents }: RunOptions,
): Promise<readonly Check[]> {
  const { name } = agent;
  const { env } = process;
  if (name === claudeAgent.name)
    return [...(await checkClaude(programIn(chosen), env)), ...checkTrust(folder, env)];
  if (name === codexAgent.name) return checkCodex(programIn(chosen, 'codexPath'), env);
  const command = acpCommands(agents)[name];
  if (!command) throw new Error(`Bug: no command is known for ${name}`);
  return checkAcp(agent, command, env);
}

/** The executor of an agent declares what the agent can do. */
function abilitiesOf({ name, can }: AgentDeclaration): Check {
  const { cost, ...others } = can;
  const able = Object.entries(others).flatMap(([what, is]) => (is ? [what] : []));
  const unable = Object.entries(others).flatMap(([what, is]) => (is ? [] : [what]));
  const costs = { usd: 'cost in USD', tokens: 'cost from tokens', none: 'cost unknown' }[cost];
  const fact = `${name} can ${able.join(', ') || 'do none of these'}; ${costs}`;
  const lacks = unable.length > 0 ? `; cannot ${unable.join(', ')}` : '';
  return { name: 'abilities', verdict: 'ok', fact: `${fact}${lacks}` };
}
