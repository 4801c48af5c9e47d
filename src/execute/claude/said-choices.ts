/** Turns the choices in options and configuration files into the choices of a run. */
import type { Choice, Choices } from '../../model/agent.ts';
import { UserError } from '../../model/user-error.ts';
import { readAgentArgs } from './agent-args.ts';
import { readChoices, USUAL } from './choices.ts';
import { BYPASS, stricterMode } from './known-names.ts';
import { splitTools } from './tools.ts';

/**
 * There are two ways to skip permissions; this brings them into one form. Then the first source that
 * sets any permission (the command line, the project or the user) sets all of them.
 */
export function oneVoice(said: Choices, who: string): Choices {
  const { permissionMode, skipPermissions: skip } = said;
  if (permissionMode === undefined) return said;
  const bypasses = permissionMode === BYPASS;
  if (skip !== undefined && skip !== bypasses) {
    throw wrong(
      `${who} asks ${skip ? 'to skip' : 'not to skip'} permissions, but names the permission mode ${permissionMode}.`,
      'Remove one of the two.',
    );
  }
  const mode = bypasses ? USUAL.permissionMode : permissionMode;
  return { ...said, permissionMode: mode, skipPermissions: bypasses };
}

/** The choices of a run after `said` has overridden `before`. */
export function choose(said: Choices, before: Choices, folder: string): Choices {
  // Where the program is, each machine says anew.
  const { claudePath: _, ...kept } = said;
  const all = { ...withoutBypass(before), ...checked(kept, folder) };
  const chosen = Object.entries(all).filter(([, value]) => !isNothing(value));
  return { ...USUAL, ...Object.fromEntries(chosen) };
}

/** Whether the value removes an earlier choice. */
function isNothing(value: Choice): boolean {
  return value === '' || value === '{}' || (isList(value) && value.length === 0);
}

/** A run of an older version may contain the bypass as a permission mode. */
function withoutBypass(before: Choices): Choices {
  if (before.permissionMode !== BYPASS) return before;
  return { ...before, permissionMode: USUAL.permissionMode, skipPermissions: true };
}

function checked(said: Choices, folder: string): Choices {
  const { allowedTools, disallowedTools, mcpConfig, addDir, agentArgs } = said;
  const named = (given: readonly string[]) => given.filter((path) => path !== '');
  return {
    ...said,
    ...(isList(allowedTools) && { allowedTools: toolsIn('allowed-tools', allowedTools) }),
    ...(isList(disallowedTools) && {
      disallowedTools: toolsIn('disallowed-tools', disallowedTools),
    }),
    ...(isList(mcpConfig) && { mcpConfig: named(mcpConfig) }),
    ...(isList(addDir) && { addDir: named(addDir) }),
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
    throw wrong(
      `--${option} contains "${text}", which is not a list of tools.`,
      'Write rules like Read or "Bash(git log:*)".',
    );
  });
}

/** The choices that stay when another user's run is resumed: it must not allow more than a new run. */
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

/** Facts for the user before a run that another user started is resumed. */
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
  'without asking, with your rights. Use this only for workflows that you trust, where no data can be lost.',
];

function wrong(message: string, remedy: string): UserError {
  return new UserError('usage', message, remedy);
}
