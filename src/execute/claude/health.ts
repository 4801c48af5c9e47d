/** Whether Claude Code can be used here, found out without asking a model. */
import { inheritedEnvironment } from '../environment.ts';
import { outputOf } from '../process/index.ts';
import { claudeEnvironment } from './command.ts';
import { findClaude } from './executable.ts';

export type ClaudeHealth =
  | { readonly found: false; readonly problem: string; readonly remedy: string }
  | {
      readonly found: true;
      readonly path: string;
      /** Undefined when it does not say. */
      readonly version: string | undefined;
      readonly age: 'older' | 'tested' | 'newer' | 'unknown';
      readonly login: Login;
    };

export type Login =
  | { readonly kind: 'yes'; readonly how: string }
  | { readonly kind: 'no' }
  | { readonly kind: 'unknown' };

/** The versions with which all of this was tried. */
export const TESTED_VERSIONS = { from: '2.1.197', to: '2.1.325' } as const;

export async function claudeHealth(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<ClaudeHealth> {
  const executable = findClaude(configured, environment);
  if (!executable.found) return executable;
  const { path } = executable;
  const ask = (...args: string[]) => said(path, args, environment);
  const [answer, status] = await Promise.all([ask('--version'), ask('auth', 'status')]);
  const version = /\d+\.\d+\.\d+/.exec(answer)?.[0];
  return { found: true, path, version, age: ageOf(version), login: readLogin(status) };
}

export function ageOf(version: string | undefined): 'older' | 'tested' | 'newer' | 'unknown' {
  if (version === undefined) return 'unknown';
  if (compare(version, TESTED_VERSIONS.from) < 0) return 'older';
  return compare(version, TESTED_VERSIONS.to) > 0 ? 'newer' : 'tested';
}

export function readLogin(status: string): Login {
  try {
    const { loggedIn, authMethod } = JSON.parse(status);
    if (loggedIn === true) return { kind: 'yes', how: String(authMethod ?? 'unknown') };
    return loggedIn === false ? { kind: 'no' } : { kind: 'unknown' };
  } catch {
    return { kind: 'unknown' };
  }
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const differences = (left ?? []).map((part, index) => part - (right?.[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

const LONGEST_MS = 15_000;

/** What it says, whatever its exit code; nothing when it cannot be run or hangs. */
export function said(
  path: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const env = claudeEnvironment(inheritedEnvironment(environment));
  return outputOf({ command: path, args, env, timeoutMs: LONGEST_MS });
}
