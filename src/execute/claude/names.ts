import { claudeOutput } from './health.ts';
import { EFFORTS, PERMISSION_MODES } from './known-names.ts';

export interface AgentNames {
  readonly efforts: readonly string[];
  readonly permissionModes: readonly string[];
}

/** The names in the help of the installed Claude Code, and those that all tested versions know. */
export async function claudeNames(
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<AgentNames> {
  const help = readHelp(await claudeOutput(path, ['--help'], environment));
  return {
    efforts: [...EFFORTS, ...help.efforts],
    permissionModes: [...PERMISSION_MODES, ...help.permissionModes],
  };
}

/** `--effort <level>  Effort level (low, high)`, `--permission-mode <mode>  … (choices: "plan", "auto")`. */
export function readHelp(help: string): AgentNames {
  return {
    efforts: choices(help, /^\s*--effort <[^(]*\(([^)]*)\)/m),
    permissionModes: choices(help, /^\s*--permission-mode <[^(]*\(([^)]*)\)/m),
  };
}

function choices(help: string, list: RegExp): readonly string[] {
  const [, names = ''] = list.exec(help) ?? [];
  return names.replace(/^choices:/, '').match(/[\w-]+/g) ?? [];
}
