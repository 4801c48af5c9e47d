import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export type Executable =
  | { readonly found: true; readonly path: string }
  | ({ readonly found: false } & Missing);

interface Missing {
  readonly problem: string;
  readonly remedy: string;
}

/** Looks in RAYMOND_CLAUDE, then in the configuration, then on the PATH. */
export function findClaude(
  configured: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Executable {
  const named = environment.RAYMOND_CLAUDE || configured;
  if (named !== undefined) {
    const path =
      isAbsolute(named) || named.includes('/') ? resolve(named) : onPath(named, environment.PATH);
    if (path !== undefined && isExecutable(path)) return { found: true, path };
    const where = environment.RAYMOND_CLAUDE ? 'RAYMOND_CLAUDE' : 'claude_path in the config file';
    const problem = `${where} names ${named}, which is not a program.`;
    return { found: false, problem, remedy: 'Name an executable file.' };
  }
  const path = onPath('claude', environment.PATH);
  return path === undefined ? { found: false, ...NOT_INSTALLED } : { found: true, path };
}

const NOT_INSTALLED: Missing = {
  problem: 'Claude Code (the program "claude") is not on the PATH.',
  remedy:
    'Install it with "npm install -g @anthropic-ai/claude-code", or name it in RAYMOND_CLAUDE or as claude_path in the config file.',
};

function onPath(name: string, path: string | undefined): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
  return (
    (path ?? '')
      .split(delimiter)
      // A relative folder would lead into the project, which may be untrusted.
      .filter(isAbsolute)
      .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
      .find(isExecutable)
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
