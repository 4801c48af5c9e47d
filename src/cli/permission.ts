import { newRun } from '../interpret/new-run.ts';
import type { Settings } from '../model/event.ts';
import { BYPASS } from '../parse/agent-names.ts';
import { type RunOptions, wrongUsage } from './options.ts';

/**
 * There are two ways to skip permissions. In one form, the one who says anything about permissions
 * (the command line, then the project, then the user) has said everything about them.
 */
export function onePermission<T extends RunOptions>(options: T, who: string): T {
  const { permissionMode, dangerouslySkipPermissions: skip } = options;
  if (permissionMode === undefined) return options;
  const bypasses = permissionMode === BYPASS;
  if (skip !== undefined && skip !== bypasses) {
    throw wrongUsage(
      `${who} says ${skip ? 'to skip' : 'not to skip'} permissions, and names the permission mode ${permissionMode}.`,
      'Keep one of them.',
    );
  }
  const mode = bypasses ? newRun.settings.permissionMode : permissionMode;
  return { ...options, permissionMode: mode, dangerouslySkipPermissions: bypasses };
}

/** For standard error, before anything is done: no option hides it. */
export function skipWarning({ skipPermissions, rehearse }: Settings): readonly string[] {
  return skipPermissions && !rehearse ? SKIP_WARNING : [];
}

const SKIP_WARNING = [
  'WARNING: permissions are skipped. The agent can run any command and change any file,',
  'without asking, with your rights. Use it only for workflows that you trust, where nothing can be lost.',
];
