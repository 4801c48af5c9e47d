/** The parts of the sandbox: programs of the system, and files of sandbox-runtime, an optional package. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { attempt } from '../../model/attempt.ts';
import { findNamed } from '../agents/find-program.ts';

export const SANDBOX_PACKAGE = '@anthropic-ai/sandbox-runtime';

/** The folder of the package; undefined if it is not installed. */
export function sandboxFolder(): string | undefined {
  const main = attempt(() => createRequire(import.meta.url).resolve(SANDBOX_PACKAGE));
  return main && dirname(dirname(main));
}

/** A program that runs another one, which then cannot use sockets that are files. Throws if it is missing. */
export function socketFilter(): string {
  const folder = sandboxFolder();
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
  const program = folder && join(folder, 'vendor', 'seccomp', architecture, 'apply-seccomp');
  if (program && existsSync(program)) return program;
  throw new Error(`The package ${SANDBOX_PACKAGE} is not installed.`);
}

/** The path of a program. Throws if it is missing: without it, a step with rights must not begin. */
export function sandboxProgram(name: string, path = process.env.PATH): string {
  const found = findNamed(name, path);
  if (found !== undefined) return found;
  throw new Error(`The sandbox needs ${name}, which is not installed.`);
}
