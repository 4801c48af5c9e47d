/** Everything that Raymond passes to codex. */
import { join } from 'node:path';
import { type ChosenStep, mayEdit, type SharedChoices } from '../agents/agent-choices.ts';
import type { Protection } from '../agents/protected-files.ts';

export interface Turn extends Protection {
  readonly session: TurnSession;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly sandbox: Sandbox;
  readonly cwd: string;
}

export type SandboxRules = Omit<Turn, 'session' | 'model' | 'effort'>;

/** Codex chooses the ids of its threads. */
export type TurnSession =
  | { readonly use: 'fresh' }
  | { readonly use: 'continue'; readonly thread: string }
  | { readonly use: 'branch'; readonly thread: string };

/** The prompt is on standard input, so nothing in it can be an option. */
export function codexArguments(turn: Turn): readonly string[] {
  return [
    ...['exec', '--json', '--skip-git-repo-check'],
    ...config('check_for_update_on_startup', 'false'),
    ...(turn.model === undefined ? [] : config('model', quoted(turn.model))),
    ...(turn.effort === undefined ? [] : config('model_reasoning_effort', quoted(turn.effort))),
    ...sandboxArguments(turn),
    ...sessionArguments(turn.session),
    '-',
  ];
}

function sessionArguments(session: TurnSession): readonly string[] {
  switch (session.use) {
    case 'fresh':
      return [];
    case 'continue':
      return ['resume', session.thread];
    case 'branch':
      return ['fork', session.thread];
  }
}

/**
 * In the sandbox, rules for longer paths override those for shorter ones. It knows no patterns for files that
 * can be read only, so command files are protected in the folders that the agent may change, and not
 * further below. The user's key is hidden in another way: see `outOfSight`.
 */
function sandboxArguments({ sandbox, cwd, ...files }: Turn): readonly string[] {
  if (sandbox === 'danger-full-access') return config('sandbox_mode', quoted(sandbox));
  const { protects, opens } = files;
  const isEditing = sandbox === 'workspace-write';
  const commands = commandFilesOf({ sandbox, cwd, ...files });
  // A later rule for the same path replaces an earlier one.
  const rules = new Map([
    ...[':root', ...protects].map((path) => [path, 'read'] as const),
    ...opens.map((path) => [path, isEditing ? 'write' : 'read'] as const),
    ...(isEditing ? [':tmpdir', ':slash_tmp'] : []).map((path) => [path, 'write'] as const),
    ...commands.map((path) => [path, 'read'] as const),
  ]);
  const written = [...rules].map(([path, access]) => `${quoted(path)}="${access}"`);
  const own = isEditing ? [`${quoted(':workspace_roots')}={"."="write"}`] : [];
  return [
    ...config('default_permissions', quoted(PROFILE)),
    ...config(`permissions.${PROFILE}.filesystem`, `{${[...written, ...own].join(',')}}`),
  ];
}

const PROFILE = 'raymond';

/** Where codex may put something in place of a missing file. It protects some names by itself. */
export function placeholdersOf(rules: SandboxRules, temporary: string): readonly string[] {
  if (rules.sandbox !== 'workspace-write') return [];
  const folders = new Set([rules.cwd, ...rules.opens, temporary, '/tmp']);
  const own = [...folders].flatMap((folder) => OWN_NAMES.map((name) => join(folder, name)));
  return [...commandFilesOf(rules), ...own];
}

const OWN_NAMES = ['.git', '.codex', '.agents', '.aws'];

/** The command files that the sandbox protects. */
function commandFilesOf({
  sandbox,
  cwd,
  opens,
  roots,
  commandFiles,
}: SandboxRules): readonly string[] {
  if (sandbox !== 'workspace-write' || roots.length === 0) return [];
  return [cwd, ...opens].flatMap((folder) => commandFiles.map((name) => join(folder, name)));
}

/** The value is TOML. */
function config(key: string, value: string): readonly string[] {
  return ['-c', `${key}=${value}`];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

export type CodexStep = ChosenStep;

/** What the sandbox of codex allows in a permission mode. Codex never asks in `exec`. */
type Sandbox = 'read-only' | 'workspace-write' | 'danger-full-access';

export function sandboxOf(choices: SharedChoices): Sandbox {
  if (choices.skipPermissions) return 'danger-full-access';
  return mayEdit(choices) ? 'workspace-write' : 'read-only';
}
