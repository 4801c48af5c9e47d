import type { RunOptions } from './options.ts';
import { agent } from './wire.ts';

/** What one person or file says of permissions, in one form: whoever says anything has said everything. */
export function onePermission<T extends RunOptions>(options: T, who: string): T {
  const { permissionMode, dangerouslySkipPermissions } = options;
  if (permissionMode === undefined) return options;
  const { skipPermissions, permissionMode: mode } = agent.oneVoice(
    {
      permissionMode,
      ...(dangerouslySkipPermissions !== undefined && {
        skipPermissions: dangerouslySkipPermissions,
      }),
    },
    who,
  );
  return { ...options, permissionMode: mode, dangerouslySkipPermissions: skipPermissions };
}
