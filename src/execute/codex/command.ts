/** Everything that Raymond passes to codex. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './choices.ts';

export interface Turn {
  readonly session: TurnSession;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly sandbox: Sandbox;
  /** Files and folders that the agent must not change, and folders in them that it may. */
  readonly protects: readonly string[];
  readonly opens: readonly string[];
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

export interface Protected {
  /** `.raymond` of the project. */
  readonly projectFolder: string;
  /** The files of a workflow, absolute. */
  readonly filesOf: (workflow: string) => readonly string[];
}

/** The agent must not change Raymond's own files and those of its workflow, except its task folder. */
export function protection(
  { projectFolder, filesOf }: Protected,
  { workflow, run }: { readonly workflow: string; readonly run: string },
): Pick<Turn, 'protects' | 'opens'> {
  const tasks = join(projectFolder, 'runs', run, 'tasks');
  return {
    protects: [projectFolder, ...filesOf(workflow)].filter(existsSync),
    opens: [tasks].filter(existsSync),
  };
}
