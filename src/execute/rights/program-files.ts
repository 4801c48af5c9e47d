/**
 * The files of Raymond and of its sandbox. They run outside of every sandbox, so no step may change them: a
 * project can have Raymond in its `node_modules`.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readIfSmallSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { realOf } from '../agents/protected-files.ts';
import { sandboxFolder, systemProgram } from './sandbox-package.ts';

/** Files, and folders with everything in them. */
export function programFiles(): readonly string[] {
  known ??= findProgramFiles();
  return known;
}

function findProgramFiles(): readonly string[] {
  const sandbox = sandboxFolder();
  return [
    ...new Set([
      ...ownFolders(),
      ...(sandbox === undefined ? [] : packagesFrom(sandbox).map(withScope)),
      ...[process.execPath, ...PROGRAMS.flatMap((name) => systemProgram(name) ?? [])],
    ]),
  ].map(realOf);
}

let known: readonly string[] | undefined;

const PROGRAMS = ['bwrap', 'socat', 'rg', 'bash'];

/** In a clone, the rest of the package is what people work on. */
function ownFolders(): readonly string[] {
  const built = dirname(fileURLToPath(import.meta.url));
  const root = dirname(built);
  if (root.includes(`${sep}node_modules${sep}`)) return packagesFrom(root).map(withScope);
  return basename(built) === 'dist' ? [built, join(root, 'bin')] : [];
}

/** Node also looks for packages in the folder of a scope. */
function withScope(folder: string): string {
  const parent = dirname(folder);
  return basename(parent).startsWith('@') ? parent : folder;
}

/** A package, and all that it loads. */
function packagesFrom(folder: string): readonly string[] {
  const found = new Set([folder]);
  for (const one of found)
    for (const name of dependenciesOf(one)) {
      const next = packageFrom(one, name);
      if (next !== undefined) found.add(next);
    }
  return [...found];
}

function dependenciesOf(folder: string): readonly string[] {
  const text = attempt(() => readIfSmallSync(join(folder, 'package.json'), MOST_BYTES).bytes);
  const { dependencies = {}, optionalDependencies = {} } =
    attempt(() => JSON.parse(`${text}`) as Record<string, Record<string, string>>) ?? {};
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

const MOST_BYTES = 1024 * 1024;

/** As Node finds it. */
function packageFrom(folder: string, name: string): string | undefined {
  const found = join(folder, 'node_modules', name);
  if (existsSync(found)) return found;
  return dirname(folder) === folder ? undefined : packageFrom(dirname(folder), name);
}
