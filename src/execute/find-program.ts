import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { attempt } from '../model/attempt.ts';

export type Executable =
  | { readonly found: true; readonly path: string }
  | { readonly found: false; readonly problem: string; readonly remedy: string };

export interface WantedProgram {
  /** The name of the file on the PATH. */
  readonly name: string;
  /** The variable and the key that may name another file. */
  readonly variable: string;
  readonly configKey: string;
  readonly configured: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly notInstalled: { readonly problem: string; readonly remedy: string };
}

/** Looks in the variable, then in the configuration, then on the PATH. */
export function findProgram(wanted: WantedProgram): Executable {
  const { name, variable, configKey, configured, environment, notInstalled } = wanted;
  const named = environment[variable] || configured;
  if (named !== undefined) {
    const path = findNamed(named, environment.PATH);
    if (path !== undefined) return { found: true, path };
    const where = environment[variable] ? variable : `${configKey} in the config file`;
    const problem = `${where} names ${named}, which is not a program.`;
    return { found: false, problem, remedy: 'Name an executable file.' };
  }
  const path = onPath(name, environment.PATH);
  return path === undefined ? { found: false, ...notInstalled } : { found: true, path };
}

/** The program that a path names, or a name on the PATH. */
export function findNamed(named: string, path: string | undefined): string | undefined {
  if (!isAbsolute(named) && !named.includes('/')) return onPath(named, path);
  const file = resolve(named);
  return isExecutable(file) ? file : undefined;
}

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
  const check = () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  };
  return attempt(check) ?? false;
}
