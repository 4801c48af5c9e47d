/** Everything that Raymond passes to codex. */
import type { ProtectedFiles } from '../protected-files.ts';
import type { Sandbox } from './choices.ts';

export interface Turn extends ProtectedFiles {
  readonly session: TurnSession;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly sandbox: Sandbox;
}

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

/** In the sandbox, rules for longer paths override those for shorter ones. */
function sandboxArguments({ sandbox, protects, opens }: Turn): readonly string[] {
  if (sandbox !== 'workspace-write') return config('sandbox_mode', quoted(sandbox));
  const rules = [
    ...[`${quoted(':root')}="read"`, `${quoted(':workspace_roots')}={"."="write"}`],
    ...[`${quoted(':tmpdir')}="write"`, `${quoted(':slash_tmp')}="write"`],
    ...protects.map((path) => `${quoted(path)}="read"`),
    ...opens.map((path) => `${quoted(path)}="write"`),
  ];
  return [
    ...config('default_permissions', quoted(PROFILE)),
    ...config(`permissions.${PROFILE}.filesystem`, `{${rules.join(',')}}`),
  ];
}

const PROFILE = 'raymond';

/** The value is TOML. */
function config(key: string, value: string): readonly string[] {
  return ['-c', `${key}=${value}`];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
