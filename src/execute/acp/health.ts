/** Checks whether an agent can be used on this machine, without a request to a model. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../model/message-of.ts';
import { inheritedEnvironment } from '../agents/environment.ts';
import { compareVersions, findAcp, findNamed } from '../agents/find-program.ts';
import { outputOf, RunProcesses } from '../process/index.ts';
import type { StartedAgent } from './adapter.ts';
import { environmentFor, launchAgent } from './agent-process.ts';
import { Connection } from './connection.ts';
import type { KnownAgent } from './known.ts';
import { type Abilities, initializeParams, readAbilities, VERSION } from './protocol.ts';
import { withoutAnswer } from './report.ts';

export type AcpHealth =
  | { readonly found: false; readonly problem: string; readonly remedy: string }
  /** It does not speak the protocol. */
  | { readonly found: true; readonly path: string; readonly problem: string }
  | {
      readonly found: true;
      readonly path: string;
      readonly abilities: Abilities;
      /** The agent that the program starts, if it is another program. */
      readonly started: StartedHealth | undefined;
    };

export async function acpHealth(
  name: string,
  agent: Pick<KnownAgent, 'command'> & Partial<KnownAgent>,
  environment: NodeJS.ProcessEnv,
  timeoutMs = 60_000,
): Promise<AcpHealth> {
  const executable = findAcp(name, agent, environment);
  if (!executable.found) return executable;
  const { path } = executable;
  const folder = mkdtempSync(join(tmpdir(), 'raymond-health-'));
  try {
    const problem = (message: string) => ({ found: true, path, problem: message }) as const;
    const args = agent.command.slice(1);
    const env = environmentFor(agent, environment);
    const wanted = { folder, command: path, args, cwd: folder, env };
    const launched = await launchAgent(new RunProcesses(folder), wanted);
    const connection = new Connection(launched);
    try {
      const answer = await connection.request('initialize', initializeParams(), timeoutMs);
      const abilities = readAbilities(answer);
      if (abilities.version === VERSION) {
        const { adapter } = agent;
        const started = adapter && (await startedHealth(adapter.starts, environment));
        return { found: true, path, abilities, started };
      }
      return problem(
        `It speaks version ${abilities.version} of the protocol, not version ${VERSION}.`,
      );
    } catch (error) {
      await launched.stop();
      const exit = await launched.ended;
      return problem(
        withoutAnswer({ name }, exit, launched.stderr, folder, messageOf(error)).message,
      );
    } finally {
      await launched.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type StartedHealth =
  | { readonly found: false }
  | {
      readonly found: true;
      readonly path: string;
      /** Undefined when it does not report one. */
      readonly version: string | undefined;
      readonly isOld: boolean;
      readonly login: 'yes' | 'no' | 'unknown';
    };

export async function startedHealth(
  { program, variable, oldest, loginQuestion, variables, readLogin }: StartedAgent,
  environment: NodeJS.ProcessEnv,
): Promise<StartedHealth> {
  const path = findNamed(environment[variable] || program, environment.PATH);
  if (path === undefined) return { found: false };
  const env = { ...inheritedEnvironment(environment), ...variables };
  const ask = (args: readonly string[], withErrors: boolean) =>
    outputOf({ command: path, args, env, timeoutMs: 15_000, withErrors });
  // The errors of a program that cannot start name other versions.
  const [answer, status] = await Promise.all([ask(['--version'], false), ask(loginQuestion, true)]);
  const version = /\d+\.\d+\.\d+/.exec(answer)?.[0];
  const isOld = version !== undefined && compareVersions(version, oldest) < 0;
  return { found: true, path, version, isOld, login: readLogin(status) };
}
