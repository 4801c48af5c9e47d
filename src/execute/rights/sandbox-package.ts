/** The parts of the sandbox: programs of the system, and files of sandbox-runtime, an optional package. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { attempt } from '../../model/attempt.ts';
import { findNamed } from '../agents/find-program.ts';

export const SANDBOX_PACKAGE = '@anthropic-ai/sandbox-runtime';

/** The folder of the package; undefined if it is not installed. */
export function sandboxFolder(): string | undefined {
  const main = attempt(() => createRequire(import.meta.url).resolve(SANDBOX_PACKAGE));
  return main && dirname(dirname(main));
}

/** The path of a program. Throws if it is missing: without it, a step with rights must not begin. */
export function sandboxProgram(name: string, path = process.env.PATH): string {
  const found = systemProgram(name, path);
  if (found !== undefined) return found;
  throw new Error(`The sandbox needs ${name}, which is not installed.`);
}

export const systemProgram = (name: string, path = process.env.PATH): string | undefined =>
  findNamed(name, systemPath(path));

/**
 * Only the folders in which the system installs packages. A step could put a program of its own into others,
 * such as `node_modules/.bin`.
 */
export const systemPath = (path = ''): string =>
  path
    .split(':')
    .filter((folder) => SYSTEM_FOLDERS.includes(folder))
    .join(':');

const SYSTEM_FOLDERS: readonly string[] = [
  ...['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
  ...['/run/current-system/sw/bin', '/nix/var/nix/profiles/default/bin'],
  ...['/home/linuxbrew/.linuxbrew/bin'],
];
