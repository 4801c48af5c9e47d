/** Finds and checks the program of Claude Code. */
import { parsed } from '../../model/attempt.ts';
import { shellWord } from '../../model/shell-word.ts';
import { inheritedEnvironment } from '../agents/environment.ts';
import { compareVersions, programFinder } from '../agents/find-program.ts';
import { type Check, missingProgram, versionIn, withoutVersion } from '../agents/program-checks.ts';
import { fields } from '../json.ts';
import { outputOf } from '../process/index.ts';
import { claudeEnvironment } from './command.ts';
import { ignoredRules } from './folder-trust.ts';
import { EFFORTS, PERMISSION_MODES } from './known-names.ts';

export const findClaude = programFinder('claude', 'Claude Code', '@anthropic-ai/claude-code');

/** The versions of Claude Code that Raymond was tested with. */
const TESTED_VERSIONS = { from: '2.1.197', to: '2.1.325' } as const;

export async function checkClaude(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<readonly Check[]> {
  const executable = findClaude(configured, environment);
  if (!executable.found) return [missingProgram(NAME, executable)];
  const { path } = executable;
  const ask = (...args: string[]) => claudeOutput(path, args, environment);
  const [answer, status] = await Promise.all([ask('--version'), ask('auth', 'status')]);
  return [versionCheck(versionIn(answer), path), loginCheck(status, path)];
}

const NAME = 'claude';

export function versionCheck(version: string | undefined, path: string): Check {
  if (version === undefined) return withoutVersion(NAME, path, ' of Claude Code');
  const fact = `Claude Code ${version} (${path})`;
  const { from, to } = TESTED_VERSIONS;
  if (compareVersions(version, from) < 0)
    return {
      name: NAME,
      verdict: 'warning',
      fact: `${fact} is older than ${from}, the oldest tested version.`,
      remedy: 'Update it: claude update',
    };
  const isNewer = compareVersions(version, to) > 0;
  const remark = isNewer ? `, newer than ${to}, the newest tested version` : '';
  return { name: NAME, verdict: 'ok', fact: `${fact}${remark}` };
}

export function loginCheck(status: string, path: string): Check {
  const name = 'login';
  const { loggedIn, authMethod } = fields(parsed(status));
  if (loggedIn === true) {
    const fact = `Claude Code is logged in (${authMethod ?? 'unknown'})`;
    return { name, verdict: 'ok', fact };
  }
  if (loggedIn === false) {
    const remedy = `Log in (${shellWord(path)} auth login), or set ANTHROPIC_API_KEY.`;
    return { name, verdict: 'problem', fact: 'Claude Code is not logged in.', remedy };
  }
  const fact = 'Raymond cannot determine whether Claude Code is logged in.';
  return { name, verdict: 'warning', fact, remedy: `Try it: ${shellWord(path)} -p hello` };
}

/** Allow rules in the settings of a project that Claude Code ignores. */
export function checkTrust(folder: string, environment: NodeJS.ProcessEnv): readonly Check[] {
  const [file] = ignoredRules(folder, environment);
  if (file === undefined) return [];
  const fact = `Claude Code ignores permissions.allow in ${file}, because it does not trust ${folder}.`;
  const remedy = `Start claude once in ${shellWord(folder)} and trust the folder, or give the rules with --allowed-tools.`;
  return [{ name: 'agent rules', verdict: 'warning', fact, remedy }];
}

const TIMEOUT_MS = 15_000;

/** The output of a command of Claude Code, whatever its exit code; empty if it cannot run or hangs. */
export function claudeOutput(
  path: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const env = claudeEnvironment(inheritedEnvironment(environment));
  return outputOf({ command: path, args, env, timeoutMs: TIMEOUT_MS });
}

export interface AgentNames {
  readonly efforts: readonly string[];
  readonly permissionModes: readonly string[];
}

/** The names in the help of the installed Claude Code, and those that all tested versions know. */
export async function claudeNames(
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<AgentNames> {
  const help = readHelp(await claudeOutput(path, ['--help'], environment));
  return {
    efforts: [...EFFORTS, ...help.efforts],
    permissionModes: [...PERMISSION_MODES, ...help.permissionModes],
  };
}

/** `--effort <level>  Effort level (low, high)`, `--permission-mode <mode>  … (choices: "plan", "auto")`. */
export function readHelp(help: string): AgentNames {
  return {
    efforts: choices(help, /^\s*--effort <[^(]*\(([^)]*)\)/m),
    permissionModes: choices(help, /^\s*--permission-mode <[^(]*\(([^)]*)\)/m),
  };
}

function choices(help: string, list: RegExp): readonly string[] {
  const [, names = ''] = list.exec(help) ?? [];
  return names.replace(/^choices:/, '').match(/[\w-]+/g) ?? [];
}
