/** Checks the agent that an adapter starts, which the adapter itself does not do. */
import { compareVersions } from '../compare-versions.ts';
import { inheritedEnvironment } from '../environment.ts';
import { findNamed } from '../find-program.ts';
import { outputOf } from '../process/index.ts';
import type { StartedAgent } from './adapter.ts';

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
