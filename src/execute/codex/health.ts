/** Checks whether codex can be used on this machine, without a request to a model. */
import { inheritedEnvironment } from '../environment.ts';
import { outputOf } from '../process/index.ts';
import { findCodex } from './executable.ts';

export type CodexHealth =
  | { readonly found: false; readonly problem: string; readonly remedy: string }
  | {
      readonly found: true;
      readonly path: string;
      /** Undefined when it does not report one. */
      readonly version: string | undefined;
    };

export async function codexHealth(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<CodexHealth> {
  const executable = findCodex(configured, environment);
  if (!executable.found) return executable;
  const { path } = executable;
  const env = inheritedEnvironment(environment);
  const answer = await outputOf({ command: path, args: ['--version'], env, timeoutMs: 15_000 });
  return { found: true, path, version: /\d+\.\d+\.\d+/.exec(answer)?.[0] };
}
