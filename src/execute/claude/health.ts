/** Checks whether Claude Code can be used on this machine, without a request to a model. */
import { inheritedEnvironment } from '../agents/environment.ts';
import { compareVersions, programFinder } from '../agents/find-program.ts';
import { fields, parsed } from '../json.ts';
import { outputOf } from '../process/index.ts';
import { claudeEnvironment } from './command.ts';
import { EFFORTS, PERMISSION_MODES } from './known-names.ts';

export const findClaude = programFinder('claude', 'Claude Code', '@anthropic-ai/claude-code');

export type ClaudeHealth =
  | { readonly found: false; readonly problem: string; readonly remedy: string }
  | {
      readonly found: true;
      readonly path: string;
      /** Undefined when it does not report one. */
      readonly version: string | undefined;
      readonly age: 'older' | 'tested' | 'newer' | 'unknown';
      readonly login: Login;
    };

export type Login =
  | { readonly kind: 'yes'; readonly how: string }
  | { readonly kind: 'no' }
  | { readonly kind: 'unknown' };

/** The versions of Claude Code that Raymond was tested with. */
export const TESTED_VERSIONS = { from: '2.1.197', to: '2.1.325' } as const;

export async function claudeHealth(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<ClaudeHealth> {
  const executable = findClaude(configured, environment);
  if (!executable.found) return executable;
  const { path } = executable;
  const ask = (...args: string[]) => claudeOutput(path, args, environment);
  const [answer, status] = await Promise.all([ask('--version'), ask('auth', 'status')]);
  const version = /\d+\.\d+\.\d+/.exec(answer)?.[0];
  return { found: true, path, version, age: ageOf(version), login: readLogin(status) };
}

export function ageOf(version: string | undefined): 'older' | 'tested' | 'newer' | 'unknown' {
  if (version === undefined) return 'unknown';
  if (compareVersions(version, TESTED_VERSIONS.from) < 0) return 'older';
  return compareVersions(version, TESTED_VERSIONS.to) > 0 ? 'newer' : 'tested';
}

export function readLogin(status: string): Login {
  const { loggedIn, authMethod } = fields(parsed(status));
  if (loggedIn === true) return { kind: 'yes', how: String(authMethod ?? 'unknown') };
  return loggedIn === false ? { kind: 'no' } : { kind: 'unknown' };
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
