/** The options that a user gives for Claude Code, in addition to Raymond's own arguments. */
import { statSync } from 'node:fs';
import { readRegularFileSync } from '../../files/regular-file.ts';
import type { Choices } from '../../model/agent.ts';
import { parsed } from '../../model/attempt.ts';
import { messageOf } from '../../model/message-of.ts';
import { wrongUsage } from '../../model/user-error.ts';
import { isInlineJson } from '../../parse/inline-json.ts';
import { readRunChoices } from './choices.ts';

export interface AgentOptions {
  /** The content of a settings file of Claude Code. */
  readonly settings?: Json;
  readonly mcpConfig?: readonly string[];
  readonly addDir?: readonly string[];
  readonly appendSystemPrompt?: string;
  /** Checked by `readAgentArgs`. */
  readonly agentArgs?: readonly string[];
  /** The files that contain these options: the agent must not change them. */
  readonly files?: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/** Reads the files that are chosen for a run. Throws a UserError for one that cannot be used. */
export function readAgentOptions(choices: Choices): AgentOptions {
  const {
    agentSettings,
    mcpConfig = [],
    addDir = [],
    appendSystemPrompt,
    agentArgs,
  } = readRunChoices(choices);
  for (const folder of addDir) checkFolder(folder);
  for (const config of mcpConfig) readJson('--mcp-config', config);
  const named = [...mcpConfig, ...(agentSettings === undefined ? [] : [agentSettings])];
  return {
    ...(agentSettings !== undefined && { settings: checkedSettings(agentSettings) }),
    mcpConfig,
    addDir,
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    ...(agentArgs && { agentArgs }),
    files: named.filter((each) => !isInlineJson(each)),
  };
}

/** Adds Raymond's rules to the user's settings, because the agent accepts only one such argument. */
export function withRules(
  settings: Json,
  rules: Readonly<Record<string, readonly string[]>>,
): Json {
  const permissions = isObject(settings.permissions) ? settings.permissions : {};
  const lists = Object.entries(rules).flatMap(([name, added]) => {
    const theirs = permissions[name];
    const all = [...(Array.isArray(theirs) ? theirs : []), ...added];
    return all.length > 0 || name === 'deny' ? [[name, all]] : [];
  });
  return { ...settings, permissions: { ...permissions, ...Object.fromEntries(lists) } };
}

/**
 * The deny rules again, as arguments. Claude Code silently ignores all settings if it does not
 * understand one of them. The user's settings must not disable the rules in this way.
 */
export function deniedAgain(settings: Json, deny: readonly string[]): readonly string[] {
  const { permissions } = withRules(settings, { deny: [] });
  const theirs = isObject(permissions) && Array.isArray(permissions.deny) ? permissions.deny : [];
  return [...theirs.filter((rule) => SIMPLE_RULE.test(rule)), ...deny.map(withoutInnerBrackets)];
}

const SIMPLE_RULE = /^[A-Za-z_][\w-]*(\([^()]*\))?$/;

/** In an argument, a rule ends at its first bracket. A question mark matches any character. */
function withoutInnerBrackets(rule: string): string {
  const begin = rule.indexOf('(') + 1;
  return `${rule.slice(0, begin)}${rule.slice(begin, -1).replace(/[()]/g, '?')})`;
}

function checkedSettings(given: string): Json {
  const settings = readJson('--settings', given);
  const { permissions = {} } = settings;
  const isUsable =
    isObject(permissions) && ['allow', 'deny', 'ask'].every((list) => isRules(permissions[list]));
  if (isUsable) return settings;
  throw wrongUsage(
    `--settings: ${isInlineJson(given) ? 'the JSON text' : given} has permissions that are not lists of rules.`,
    'Write them like {"permissions": {"deny": ["Read(secret.txt)"]}}.',
  );
}

function isRules(list: unknown): boolean {
  return (
    list === undefined || (Array.isArray(list) && list.every((rule) => typeof rule === 'string'))
  );
}

function readJson(option: string, given: string): Json {
  const where = isInlineJson(given) ? 'the text' : given;
  const value = parsed(isInlineJson(given) ? given : readFile(option, given));
  if (isObject(value)) return value;
  throw wrongUsage(
    `${option}: ${where} is not a JSON object.`,
    'Correct it, or leave out the option.',
  );
}

// All settings together are one argument, whose length the system limits.
const MAX_BYTES = 64 * 1024;

function readFile(option: string, file: string): string {
  try {
    return readRegularFileSync(file, MAX_BYTES).toString('utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = messageOf(error);
    throw wrongUsage(
      isMissing ? `${option}: there is no file ${file}.` : `${option}: ${file}: ${why}`,
      'Name a JSON file that can be read.',
    );
  }
}

function checkFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw wrongUsage(`--add-dir: there is no folder ${folder}.`, 'Name a folder that exists.');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
