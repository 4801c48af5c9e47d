/** Checks an agent of the protocol, and the agent that its program starts, if that is another one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentDeclaration } from '../../model/agent.ts';
import { messageOf } from '../../model/message-of.ts';
import { inheritedEnvironment } from '../agents/environment.ts';
import { compareVersions, findAcp, findNamed } from '../agents/find-program.ts';
import {
  type Check,
  type Login,
  missingProgram,
  versionIn,
  withoutVersion,
} from '../agents/program-checks.ts';
import { outputOf, RunProcesses } from '../process/index.ts';
import type { StartedAgent } from './adapter.ts';
import { environmentFor, launchAgent } from './agent-process.ts';
import { Connection } from './connection.ts';
import type { KnownAgent } from './known.ts';
import { initializeParams, readAbilities, VERSION } from './protocol.ts';
import type { Abilities } from './records.ts';
import { withoutAnswer } from './report.ts';

type Agent = Pick<KnownAgent, 'command'> & Partial<KnownAgent>;

export async function checkAcp(
  { name, can }: Pick<AgentDeclaration, 'name' | 'can'>,
  agent: Agent,
  environment: NodeJS.ProcessEnv,
): Promise<readonly Check[]> {
  const executable = findAcp(name, agent, environment);
  if (!executable.found) return [missingProgram(name, executable)];
  const { path } = executable;
  const answer = await abilitiesOf(name, agent, path, environment);
  if (typeof answer === 'string') {
    const fact = `${path} does not answer as an agent of the Agent Client Protocol. ${answer}`;
    const remedy = `Check command in [agents.${name}] of your config file, or update the program.`;
    return [{ name, verdict: 'problem', fact, remedy }];
  }
  const here: Check = { name, verdict: 'ok', fact: `${answer.about || name} (${path})` };
  const checks = [here, ...branchCheck(name, can.branch, answer.fork)];
  if (!agent.adapter) return [...checks, ...loginsOffered(name, answer.logins)];
  const started = await checkStarted(name, path, agent.adapter.starts, environment);
  // The program answers even if the agent that it starts cannot work.
  return started.length === 1 ? started : [...checks, ...started];
}

/** Starts the program and asks what it can do. A text says why it does not speak the protocol. */
async function abilitiesOf(
  name: string,
  agent: Agent,
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<Abilities | string> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-health-'));
  const args = agent.command.slice(1);
  const env = environmentFor(agent, environment);
  const wanted = { folder, command: path, args, cwd: folder, env };
  try {
    const launched = await launchAgent(new RunProcesses(folder), wanted);
    try {
      const connection = new Connection(launched);
      const answer = await connection.request('initialize', initializeParams(), TIMEOUT_MS);
      const abilities = readAbilities(answer);
      if (abilities.version === VERSION) return abilities;
      return `It speaks version ${abilities.version} of the protocol, not version ${VERSION}.`;
    } catch (error) {
      await launched.stop();
      const exit = await launched.ended;
      return withoutAnswer({ name }, exit, launched.stderr, folder, messageOf(error)).message;
    } finally {
      await launched.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Some agents prepare their folders when they start for the first time. */
const TIMEOUT_MS = 30_000;

async function checkStarted(
  name: string,
  adapter: string,
  started: StartedAgent,
  environment: NodeJS.ProcessEnv,
): Promise<readonly Check[]> {
  const { program, variable, oldest, remedy, loginQuestion, variables, readLogin } = started;
  const problem = (fact: string): readonly Check[] => [{ name, verdict: 'problem', fact, remedy }];
  const path = findNamed(environment[variable] || program, environment.PATH);
  if (path === undefined)
    return problem(
      `${adapter} starts the program "${program}", which is not on the PATH. (${variable} may name another one.)`,
    );
  const env = { ...inheritedEnvironment(environment), ...variables };
  const ask = (args: readonly string[], withErrors: boolean) =>
    outputOf({ command: path, args, env, timeoutMs: 15_000, withErrors });
  // The errors of a program that cannot start name other versions.
  const [answer, status] = await Promise.all([ask(['--version'], false), ask(loginQuestion, true)]);
  const version = versionIn(answer);
  if (version === undefined) return [withoutVersion(name, path, '', `. ${remedy}`)];
  const here = `${name} ${version} (${path})`;
  if (compareVersions(version, oldest) < 0)
    return problem(`${here} is older than ${oldest}, which ${adapter} needs.`);
  return [{ name, verdict: 'ok', fact: here }, loginOf(name, readLogin(status), started.login)];
}

function loginOf(agent: string, login: Login, remedy: string): Check {
  const name = 'login';
  if (login === 'yes') return { name, verdict: 'ok', fact: `${agent} has models that it can use` };
  if (login === 'no')
    return { name, verdict: 'problem', fact: `${agent} is not logged in.`, remedy };
  const fact = `Raymond cannot determine whether ${agent} is logged in.`;
  return { name, verdict: 'warning', fact, remedy };
}

function branchCheck(name: string, isDeclared: boolean, isOffered: boolean): readonly Check[] {
  if (isDeclared === isOffered) return [];
  if (!isDeclared) {
    const fact = `${name} offers to branch sessions. To use it, set branch = true in [agents.${name}].`;
    return [{ name, verdict: 'ok', fact }];
  }
  const fact = `${name} is declared to branch sessions, but this version does not offer it.`;
  const remedy = `Set branch = false in [agents.${name}] of your config file, or update the program.`;
  return [{ name, verdict: 'warning', fact, remedy }];
}

/** The protocol does not say whether a user is logged in. The first prompt shows it. */
function loginsOffered(name: string, logins: readonly string[]): readonly Check[] {
  if (logins.length === 0) return [];
  const fact = `Only a prompt shows whether ${name} is logged in. It offers: ${logins.join(', ')}`;
  return [{ name: 'login', verdict: 'ok', fact }];
}
