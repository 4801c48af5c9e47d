/** Finds and checks the program of codex. */
import { shellWord } from '../../model/shell-word.ts';
import { inheritedEnvironment } from '../agents/environment.ts';
import { programFinder } from '../agents/find-program.ts';
import {
  type Check,
  type Login,
  missingProgram,
  versionIn,
  withoutVersion,
} from '../agents/program-checks.ts';
import { outputOf } from '../process/index.ts';

export const findCodex = programFinder('codex', 'Codex', '@openai/codex');

export async function checkCodex(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<readonly Check[]> {
  const name = 'codex';
  const executable = findCodex(configured, environment);
  if (!executable.found) return [missingProgram(name, executable)];
  const { path } = executable;
  const env = inheritedEnvironment(environment);
  const ask = (...args: readonly string[]) =>
    outputOf({ command: path, args, env, timeoutMs: 15_000, withErrors: true });
  const [answer, status] = await Promise.all([ask('--version'), ask('login', 'status')]);
  const version = versionIn(answer);
  if (version === undefined) return [withoutVersion(name, path, ' of codex')];
  return [
    { name, verdict: 'ok', fact: `codex ${version} (${path})` },
    loginCheck(readCodexLogin(status), path),
  ];
}

/** A model of another provider needs no login. */
function loginCheck(login: Login, path: string): Check {
  if (login === 'yes') return { name: 'login', verdict: 'ok', fact: 'Codex is logged in' };
  const fact =
    login === 'no'
      ? 'Codex is not logged in.'
      : 'Raymond cannot determine whether codex is logged in.';
  const remedy = `Log in (${shellWord(path)} login), unless your codex configuration names a provider that needs no login.`;
  return { name: 'login', verdict: 'warning', fact, remedy };
}

/** Codex writes the status for people. */
function readCodexLogin(status: string): Login {
  if (/not logged in/i.test(status)) return 'no';
  return /logged in|api key configured/i.test(status) ? 'yes' : 'unknown';
}
