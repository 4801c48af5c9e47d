/**
 * The settings of a project for Claude Code. Without a terminal it loads them all, except the allow rules,
 * which it ignores until a user has trusted the folder in a terminal.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readRegularFileSync, realOrSame } from '../../files/regular-file.ts';
import { withParents } from '../../files/walk.ts';
import type { ProjectSettings } from '../../model/agent.ts';
import { attempt, parsed } from '../../model/attempt.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const NAMES = ['.claude', '.mcp.json'];

export const CLAUDE_SETTINGS: ProjectSettings = {
  names: NAMES,
  skips: NAMES,
  alsoSkips: 'CLAUDE.md',
  // Who has trusted the folder there has seen the question of Claude Code itself.
  isTrusted: (folders) => areTrusted(folders, process.env),
};

/** The settings files of a project whose allow rules Claude Code ignores. */
export function ignoredRules(folder: string, environment: Environment): readonly string[] {
  const files = ['settings.json', 'settings.local.json'].map((name) =>
    join(folder, '.claude', name),
  );
  const allowing = files.filter(allowsSomething);
  const folders = [folder, realOrSame(folder)].flatMap(withParents);
  return allowing.length === 0 || areTrusted(folders, environment) ? [] : allowing;
}

function allowsSomething(file: string): boolean {
  const allow = at(at(readJson(file), 'permissions'), 'allow');
  return Array.isArray(allow) && allow.length > 0;
}

/** True if one of the folders is trusted. */
function areTrusted(folders: readonly string[], environment: Environment): boolean {
  const home = environment.CLAUDE_CONFIG_DIR || environment.HOME || homedir();
  const projects = at(readJson(join(home, '.claude.json'), MAX_OWN_BYTES), 'projects');
  return folders.some((path) => at(at(projects, path), 'hasTrustDialogAccepted') === true);
}

const MAX_BYTES = 1024 * 1024;
/** Claude Code's own file can be large. */
const MAX_OWN_BYTES = 64 * 1024 * 1024;

function readJson(file: string, maxBytes = MAX_BYTES): unknown {
  return parsed(attempt(() => readRegularFileSync(file, maxBytes).toString('utf8')));
}

function at(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}
