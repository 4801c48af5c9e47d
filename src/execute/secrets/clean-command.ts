/** The command of `clean-process.ts`. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Program } from '../agents/out-of-sight.ts';

/** The variables with these names must be in the environment of the program. */
export function cleaned(names: readonly string[], { command, args }: Program): Program {
  return { command: process.execPath, args: [CLEAN_PROCESS, names.join(','), command, ...args] };
}

/** The values of the variables with these names. */
export function secretsIn(
  names: string,
  environment: NodeJS.ProcessEnv,
): ReadonlyMap<string, string> {
  const all = names.split(',').flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return new Map(all);
}

/** Beside the bundle that contains this file. Sources have none, and use that of the last build. */
const CLEAN_PROCESS =
  ['clean.js', '../../../dist/clean.js']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? 'clean.js';
