/** What people say to Raymond about Claude Code, and what a run keeps of it. */
import { resolve } from 'node:path';
import type { Choice, Choices } from '../../model/agent.ts';
import { UserError } from '../../model/user-error.ts';
import { isInlineJson } from '../../parse/inline-json.ts';
import { readAgentArgs } from './agent-args.ts';
import { readChoices, USUAL } from './choices.ts';
import { BYPASS, stricterMode } from './known-names.ts';
import { splitTools } from './tools.ts';

/**
 * There are two ways to skip permissions. In one form, the one who says anything about permissions
 * (the command line, then the project, then the user) has said everything about them.
 */
export function oneVoice(said: Choices, who: string): Choices {
  const { permissionMode, skipPermissions: skip } = said;
  if (permissionMode === undefined) return said;
  const bypasses = permissionMode === BYPASS;
  if (skip !== undefined && skip !== bypasses) {
    throw wrong(
      `${who} says ${skip ? 'to skip' : 'not to skip'} permissions, and names the permission mode ${permissionMode}.`,
      'Keep one of them.',
    );
  }
  const mode = bypasses ? USUAL.permissionMode : permissionMode;
  return { ...said, permissionMode: mode, skipPermissions: bypasses };
}

/** What a run has chosen when somebody says something over what held before. */
export function choose(said: Choices, before: Choices, folder: string): Choices {
  const all = { ...withoutBypass(before), ...checked(said, folder) };
  const chosen = Object.entries(all).filter(([, value]) => !isNothing(value));
  return { ...USUAL, ...Object.fromEntries(chosen) };
}

/** Said over something, it takes that away. */
function isNothing(value: Choice): boolean {
  return value === '' || value === '{}' || (isList(value) && value.length === 0);
}

/** A run of an older Raymond may have kept the bypassing mode as a mode. */
function withoutBypass(before: Choices): Choices {
  if (before.permissionMode !== BYPASS) return before;
  return { ...before, permissionMode: USUAL.permissionMode, skipPermissions: true };
}

/** Files and folders are seen from where Raymond is started, wherever its agents work later. */
function checked(said: Choices, folder: string): Choices {
  const { allowedTools, disallowedTools, mcpConfig, addDir, agentSettings, agentArgs } = said;
  const seen = (path: string) => (isInlineJson(path) ? path : resolve(folder, path));
  const paths = (given: readonly string[]) => given.filter((path) => path !== '').map(seen);
  return {
    ...said,
    ...(isList(allowedTools) && { allowedTools: toolsIn('allowed-tools', allowedTools) }),
    ...(isList(disallowedTools) && {
      disallowedTools: toolsIn('disallowed-tools', disallowedTools),
    }),
    ...(isList(mcpConfig) && { mcpConfig: paths(mcpConfig) }),
    ...(isList(addDir) && { addDir: paths(addDir) }),
    ...(typeof agentSettings === 'string' && { agentSettings: seen(agentSettings || '{}') }),
    ...(typeof agentArgs === 'string' && { agentArgs: readAgentArgs(agentArgs, folder) }),
  };
}

function isList(choice: Choice | undefined): choice is readonly string[] {
  return Array.isArray(choice);
}

function toolsIn(option: string, given: readonly string[]): readonly string[] {
  return given.flatMap((text) => {
    const tools = splitTools(text);
    if (tools) return tools;
    throw wrong(`--${option} is "${text}".`, 'Write rules like Read or "Bash(git log:*)".');
  });
}

/** What may be kept of a run that somebody else started: it must not do more than a new one can. */
export function withoutHarm({ model, effort, permissionMode, disallowedTools }: Choices): Choices {
  const kept = { model, effort, disallowedTools };
  return {
    ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)),
    skipPermissions: false,
    permissionMode:
      typeof permissionMode === 'string'
        ? stricterMode(USUAL.permissionMode, permissionMode)
        : USUAL.permissionMode,
  };
}

/** What a person should know of it before a run is taken up that somebody else started. */
export function factsOf(choices: Choices): Readonly<Record<string, string>> {
  const { permissionMode, skipPermissions } = readChoices(choices);
  const names = NOTABLE.filter((name) => choices[name] !== undefined);
  return {
    permissions: skipPermissions ? 'SKIPPED' : permissionMode,
    'for agents': names.join(', ') || 'none',
  };
}

const NOTABLE = [
  'allowedTools',
  'disallowedTools',
  'mcpConfig',
  'agentSettings',
  'addDir',
  'appendSystemPrompt',
  'agentArgs',
];

export function warningsOf({ skipPermissions }: Choices): readonly string[] {
  return skipPermissions === true ? SKIP_WARNING : [];
}

const SKIP_WARNING = [
  'WARNING: permissions are skipped. The agent can run any command and change any file,',
  'without asking, with your rights. Use it only for workflows that you trust, where nothing can be lost.',
];

function wrong(message: string, remedy: string): UserError {
  return new UserError('usage', message, remedy);
}
