import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { attempt } from '../../model/attempt.ts';

export type Executable =
  | { readonly found: true; readonly path: string }
  | { readonly found: false; readonly problem: string; readonly remedy: string };

type ProgramEnvironment = Readonly<Record<string, string | undefined>>;

/** The variable that names the program of an agent. */
export const programVariable = (name: string): string => `RAYMOND_${name.toUpperCase()}`;

/** Looks in the variable of the agent, then in the configuration, then on the PATH. */
export function programFinder(name: string, title: string, npmPackage: string) {
  const variable = programVariable(name);
  const configKey = `${name}_path`;
  return (configured: string | undefined, environment: ProgramEnvironment): Executable => {
    const named = environment[variable] || configured;
    if (named !== undefined) {
      const path = findNamed(named, environment.PATH);
      if (path !== undefined) return { found: true, path };
      const where = environment[variable] ? variable : `${configKey} in the config file`;
      const problem = `${where} names ${named}, which is not a program.`;
      return { found: false, problem, remedy: 'Name an executable file.' };
    }
    const path = onPath(name, environment.PATH);
    if (path !== undefined) return { found: true, path };
    return {
      found: false,
      problem: `${title} (the program "${name}") is not on the PATH.`,
      remedy: `Install it with "npm install -g ${npmPackage}", or name it in ${variable} or as ${configKey} in the config file.`,
    };
  };
}

/** The program of an agent that speaks the Agent Client Protocol. */
export function findAcp(
  name: string,
  { command: [program = ''], install }: { command: readonly string[]; install?: string },
  environment: ProgramEnvironment,
): Executable {
  const path = findNamed(program, environment.PATH);
  if (path !== undefined) return { found: true, path };
  return {
    found: false,
    problem: `The program "${program}" of the agent ${name} does not exist.`,
    remedy: `${install ?? 'Install it,'} or name another one as command in [agents.${name}] of your config file.`,
  };
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

/** Negative if the first version is older. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const differences = (left ?? []).map((part, index) => part - (right?.[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}
