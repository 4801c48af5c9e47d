/** Checks whether codex can be used on this machine, without a request to a model. */
import { inheritedEnvironment } from '../agents/environment.ts';
import { programFinder } from '../agents/find-program.ts';
import { outputOf } from '../process/index.ts';

export const findCodex = programFinder('codex', 'Codex', '@openai/codex');

export type CodexHealth =
  | { readonly found: false; readonly problem: string; readonly remedy: string }
  | {
      readonly found: true;
      readonly path: string;
      /** Undefined when it does not report one. */
      readonly version: string | undefined;
      /** Whether it is logged in to its own service. A model of another provider needs no login. */
      readonly login: 'yes' | 'no' | 'unknown';
    };

export async function codexHealth(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<CodexHealth> {
  const executable = findCodex(configured, environment);
  if (!executable.found) return executable;
  const { path } = executable;
  const env = inheritedEnvironment(environment);
  const ask = (...args: readonly string[]) =>
    outputOf({ command: path, args, env, timeoutMs: 15_000, withErrors: true });
  const [answer, status] = await Promise.all([ask('--version'), ask('login', 'status')]);
  return {
    found: true,
    path,
    version: /\d+\.\d+\.\d+/.exec(answer)?.[0],
    login: readCodexLogin(status),
  };
}

/** Codex writes the status for people. */
export function readCodexLogin(status: string): 'yes' | 'no' | 'unknown' {
  if (/not logged in/i.test(status)) return 'no';
  return /logged in|api key configured/i.test(status) ? 'yes' : 'unknown';
}
