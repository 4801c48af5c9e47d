/** Turns the choices in options and configuration files into the choices of a run. */
import type { Choice, Choices } from '../../model/agent.ts';
import { wrongUsage } from '../../model/user-error.ts';
import { stricterMode } from '../agents/permission-modes.ts';
import { readAgentArgs } from './agent-args.ts';
import { DEFAULTS, readRunChoices } from './choices.ts';
import { BYPASS } from './known-names.ts';
import { CLAUDE_OPTIONS } from './options.ts';
import { splitTools } from './tools.ts';

/**
 * There are two ways to skip permissions; this brings them into one form. Then the first source that
 * sets any permission (the command line, the project or the user) sets all of them.
 */
export function normalize(given: Choices, source: string): Choices {
  const { permissionMode, skipPermissions: skip } = given;
  if (permissionMode === undefined) return given;
  const bypasses = permissionMode === BYPASS;
  if (skip !== undefined && skip !== bypasses) {
    throw wrongUsage(
      `${source} asks ${skip ? 'to skip' : 'not to skip'} permissions, but names the permission mode ${permissionMode}.`,
      'Remove one of the two.',
    );
  }
  const mode = bypasses ? DEFAULTS.permissionMode : permissionMode;
  return { ...given, permissionMode: mode, skipPermissions: bypasses };
}

export const TOGETHER = ['permissionMode', 'skipPermissions'] as const;

/** The choices of a run after `given` has overridden `before`. */
export function choose(given: Choices, before: Choices, folder: string): Choices {
  const all = { ...withoutBypass(before), ...checked(given, folder) };
  const chosen = Object.entries(all).filter(([, value]) => !isNothing(value));
  return { ...DEFAULTS, ...Object.fromEntries(chosen) };
}

/** Whether the value removes an earlier choice. */
function isNothing(value: Choice): boolean {
  return value === '' || value === '{}' || (isList(value) && value.length === 0);
}

/** A run of an older version may contain the bypass as a permission mode. */
function withoutBypass(before: Choices): Choices {
  if (before.permissionMode !== BYPASS) return before;
  return { ...before, permissionMode: DEFAULTS.permissionMode, skipPermissions: true };
}

function checked(given: Choices, folder: string): Choices {
  const { allowedTools, disallowedTools, mcpConfig, addDir, agentArgs } = given;
  const named = (paths: readonly string[]) => paths.filter((path) => path !== '');
  return {
    ...given,
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
    throw wrongUsage(
      `--${option} contains "${text}", which is not a list of tools.`,
      'Write rules like Read or "Bash(git log:*)".',
    );
  });
}

/** The choices that stay when another user's run is resumed: it must not allow more than a new run. */
export function keepHarmless(choices: Choices): Choices {
  const { agent, model, effort, permissionMode, disallowedTools } = choices;
  const kept = { agent, model, effort, disallowedTools };
  return {
    ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)),
    skipPermissions: false,
    permissionMode:
      typeof permissionMode === 'string'
        ? stricterMode(DEFAULTS.permissionMode, permissionMode)
        : DEFAULTS.permissionMode,
  };
}

/** Facts for the user before a run that another user started is resumed. */
export function summarize(choices: Choices): Readonly<Record<string, string>> {
  const { permissionMode, skipPermissions } = readRunChoices(choices);
  const names = NOTABLE.filter((name) => choices[name] !== undefined);
  return {
    permissions: skipPermissions ? 'SKIPPED' : permissionMode,
    'for agents': names.join(', ') || 'none',
  };
}

/** Everything that a user can choose, except what is harmless, shown above, or not part of a run. */
const NOTABLE = Object.keys(CLAUDE_OPTIONS).filter(
  (name) => !['model', 'effort', 'permissionMode', 'skipPermissions', 'claudePath'].includes(name),
);

export function alarmsOf({ skipPermissions }: Choices): readonly string[] {
  return skipPermissions === true ? ['PERMISSIONS SKIPPED'] : [];
}

export function warningsOf({ skipPermissions }: Choices): readonly string[] {
  return skipPermissions === true ? SKIP_WARNING : [];
}

const SKIP_WARNING = [
  'WARNING: permissions are skipped. The agent can run any command and change any file,',
  'without asking, with your rights. Use this only for workflows that you trust, where no data can be lost.',
];
