/** Checks the programs of the agents that are chosen, configured or used here. Spends nothing. */
import { dirname } from 'node:path';
import type { StartedAgent } from '../../execute/acp/adapter.ts';
import { type AcpHealth, acpHealth, type StartedHealth } from '../../execute/acp/health.ts';
import { chosenAgent } from '../../execute/agents/agent-option.ts';
import { acpCommands, agentsWith } from '../../execute/agents/agents.ts';
import { claudeAgent } from '../../execute/claude/declaration.ts';
import { ignoredRules } from '../../execute/claude/folder-trust.ts';
import { type ClaudeHealth, claudeHealth, TESTED_VERSIONS } from '../../execute/claude/health.ts';
import { codexAgent } from '../../execute/codex/declaration.ts';
import { type CodexHealth, codexHealth } from '../../execute/codex/health.ts';
import { findWorkflows } from '../../load/find-workflows.ts';
import type { AgentDeclaration } from '../../model/agent.ts';
import { shellWord } from '../../model/shell-word.ts';
import { unreachable } from '../../model/unreachable.ts';
import { UserError } from '../../model/user-error.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { agentOf } from '../../parse/chosen-agent.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { looseLibrary, programIn } from '../../world/wire.ts';

/** The result of one check. A problem must be fixed before a workflow can run. */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly fact: string;
  readonly remedy?: string;
}

export async function checkAgentPrograms(
  around: Surroundings,
  config: RunOptions,
): Promise<readonly Check[]> {
  const usual = chosenAgent(config.agent) ?? claudeAgent.name;
  const needed = new Set([usual, ...Object.keys(config.agents ?? {})]);
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
      if (workflow && state.kind === 'prompt') used.set(agentOf(workflow, state), path);
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
  if (name === claudeAgent.name)
    return [
      ...checkClaude(await claudeHealth(programIn(chosen), process.env)),
      ...checkTrust(folder),
    ];
  if (name === codexAgent.name)
    return checkCodex(await codexHealth(programIn(chosen, 'codexPath'), process.env));
  const command = acpCommands(agents)[name];
  if (!command) throw new Error(`Bug: no command is known for ${name}`);
  const health = await acpHealth(name, command, process.env, ACP_TIMEOUT_MS);
  return checkAcp(agent, health, command.adapter?.starts);
}

/** Some agents prepare their folders when they start for the first time. */
const ACP_TIMEOUT_MS = 30_000;

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

function checkAcp(
  { name, can }: AgentDeclaration,
  health: AcpHealth,
  starts: StartedAgent | undefined,
): readonly Check[] {
  if (!health.found) {
    const { problem: fact, remedy } = health;
    return [{ name, verdict: 'problem', fact, remedy }];
  }
  const { path } = health;
  if ('problem' in health)
    return [
      {
        name,
        verdict: 'problem',
        fact: `${path} does not answer as an agent of the Agent Client Protocol. ${health.problem}`,
        remedy: `Check command in [agents.${name}] of your config file, or update the program.`,
      },
    ];
  const { about, fork, logins } = health.abilities;
  const here = { name, verdict: 'ok', fact: `${about || name} (${path})` } as const;
  const checks = [here, ...branchCheck(name, can.branch, fork)];
  const { started } = health;
  if (!starts || !started) return [...checks, ...loginCheck(name, logins)];
  const problem = startedProblem(name, path, starts, started);
  if (problem) return [problem];
  return [...checks, ...startedChecks(name, starts, started)];
}

/** The adapter answers even if the agent that it starts cannot work. */
function startedProblem(
  name: string,
  adapter: string,
  { program, variable, oldest, remedy }: StartedAgent,
  started: StartedHealth,
): Check | undefined {
  const problem = (fact: string, more = remedy): Check => ({
    ...{ name, verdict: 'problem', fact, remedy: more },
  });
  if (!started.found)
    return problem(
      `${adapter} starts the program "${program}", which is not on the PATH. (${variable} may name another one.)`,
    );
  const { path, version: number, isOld } = started;
  if (number === undefined)
    return problem(
      `${path} does not report a version.`,
      `Check its output: ${shellWord(path)} --version. ${remedy}`,
    );
  if (!isOld) return undefined;
  return problem(`${name} ${number} (${path}) is older than ${oldest}, which ${adapter} needs.`);
}

function startedChecks(
  name: string,
  { login: remedy }: StartedAgent,
  started: StartedHealth,
): readonly Check[] {
  if (!started.found) return [];
  const { path, version: number, login } = started;
  const here = { name, verdict: 'ok', fact: `${name} ${number} (${path})` } as const;
  switch (login) {
    case 'yes':
      return [here, { name: 'login', verdict: 'ok', fact: `${name} has models that it can use` }];
    case 'no':
      return [
        here,
        { name: 'login', verdict: 'problem', fact: `${name} is not logged in.`, remedy },
      ];
    case 'unknown': {
      const fact = `Raymond cannot determine whether ${name} is logged in.`;
      return [here, { name: 'login', verdict: 'warning', fact, remedy }];
    }
    default:
      return unreachable(login);
  }
}

function branchCheck(name: string, isDeclared: boolean, isOffered: boolean): readonly Check[] {
  if (isDeclared === isOffered) return [];
  return [
    isDeclared
      ? {
          name,
          verdict: 'warning',
          fact: `${name} is declared to branch sessions, but this version does not offer it.`,
          remedy: `Set branch = false in [agents.${name}] of your config file, or update the program.`,
        }
      : {
          name,
          verdict: 'ok',
          fact: `${name} offers to branch sessions. To use it, set branch = true in [agents.${name}].`,
        },
  ];
}

/** The protocol does not say whether a user is logged in. The first prompt shows it. */
function loginCheck(name: string, logins: readonly string[]): readonly Check[] {
  if (logins.length === 0) return [];
  const fact = `Only a prompt shows whether ${name} is logged in. It offers: ${logins.join(', ')}`;
  return [{ name: 'login', verdict: 'ok', fact }];
}

function checkClaude(health: ClaudeHealth): readonly Check[] {
  if (!health.found) {
    const { problem: fact, remedy } = health;
    return [{ name: 'claude', verdict: 'problem', fact, remedy }];
  }
  return [
    { name: 'claude', ...version(health) },
    { name: 'login', ...login(health) },
  ];
}

function checkCodex(health: CodexHealth): readonly Check[] {
  const name = codexAgent.name;
  if (!health.found) {
    const { problem: fact, remedy } = health;
    return [{ name, verdict: 'problem', fact, remedy }];
  }
  const { version: number, path, login } = health;
  if (number === undefined)
    return [
      {
        name,
        verdict: 'problem',
        fact: `${path} does not report a version of codex.`,
        remedy: `Check its output: ${shellWord(path)} --version`,
      },
    ];
  const here = { name, verdict: 'ok', fact: `codex ${number} (${path})` } as const;
  if (login === 'yes') return [here, { name: 'login', verdict: 'ok', fact: 'Codex is logged in' }];
  return [
    here,
    {
      name: 'login',
      verdict: 'warning',
      fact:
        login === 'no'
          ? 'Codex is not logged in.'
          : 'Raymond cannot determine whether codex is logged in.',
      remedy: `Log in (${shellWord(path)} login), unless your codex configuration names a provider that needs no login.`,
    },
  ];
}

type FoundClaude = Extract<ClaudeHealth, { found: true }>;

function version({ path, version: number, age }: FoundClaude): Omit<Check, 'name'> {
  const fact = `Claude Code ${number} (${path})`;
  const { from, to } = TESTED_VERSIONS;
  switch (age) {
    case 'tested':
      return { verdict: 'ok', fact };
    case 'newer':
      return { verdict: 'ok', fact: `${fact}, newer than ${to}, the newest tested version` };
    case 'older':
      return {
        verdict: 'warning',
        fact: `${fact} is older than ${from}, the oldest tested version.`,
        remedy: 'Update it: claude update',
      };
    case 'unknown':
      return {
        verdict: 'problem',
        fact: `${path} does not report a version of Claude Code.`,
        remedy: `Check its output: ${shellWord(path)} --version`,
      };
    default:
      return unreachable(age);
  }
}

function login({ login: found, path }: FoundClaude): Omit<Check, 'name'> {
  switch (found.kind) {
    case 'yes':
      return { verdict: 'ok', fact: `Claude Code is logged in (${found.how})` };
    case 'no':
      return {
        verdict: 'problem',
        fact: 'Claude Code is not logged in.',
        remedy: `Log in (${shellWord(path)} auth login), or set ANTHROPIC_API_KEY.`,
      };
    case 'unknown':
      return {
        verdict: 'warning',
        fact: 'Raymond cannot determine whether Claude Code is logged in.',
        remedy: `Try it: ${shellWord(path)} -p hello`,
      };
    default:
      return unreachable(found);
  }
}

function checkTrust(folder: string): readonly Check[] {
  const [file] = ignoredRules(folder, process.env);
  if (file === undefined) return [];
  return [
    {
      name: 'agent rules',
      verdict: 'warning',
      fact: `Claude Code ignores permissions.allow in ${file}, because it does not trust ${folder}.`,
      remedy: `Start claude once in ${shellWord(folder)} and trust the folder, or give the rules with --allowed-tools.`,
    },
  ];
}
