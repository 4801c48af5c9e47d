/** Finds the workflows in a folder and in the folders below it, for a user who named none. */
import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPartSync } from '../files/regular-file.ts';
import { attempt } from '../model/attempt.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { nearest } from '../parse/nearest.ts';
import { isStateFile, stemOf } from '../parse/state.ts';

/** Their paths, relative to the folder. Follows no link, and reads a limited number of names. */
export async function findWorkflows(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  let looked = 0;
  let level = [''];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    const below: string[] = [];
    for (const path of level) {
      const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []);
      looked += entries.length;
      if (looked > MOST_ENTRIES) return found.sort();
      if (path !== '' && hasEntry(entries)) {
        found.push(path);
        continue;
      }
      for (const entry of entries) {
        if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
        const inside = join(path, entry.name);
        if (entry.isDirectory()) below.push(inside);
        else if (entry.isFile() && isWorkflowFile(join(folder, inside))) found.push(inside);
      }
    }
    level = below;
  }
  return found.sort();
}

/**
 * The path of the workflow that a user names without its folder, such as `feature` for `flows/feature`.
 * Throws the error, with a remedy if another workflow may be meant.
 */
export async function workflowNamed(name: string, cwd: string, error: unknown): Promise<string> {
  const isRelative = /^[\p{L}\p{N}_]/u.test(name);
  if (!(error instanceof UserError) || error.code !== 'no-workflow' || !isRelative) throw error;
  // A path below this folder was looked for. It may be one below a folder above.
  const below = basename(name) === name ? await findWorkflows(cwd) : [];
  const [only, ...others] = below.filter((path) => nameOf(path) === name);
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined)
    throw new UserError(
      'several-workflows',
      `${others.length + 1} workflows are called ${name}: ${[only, ...others].join(', ')}.`,
      `Name one by its path: raymond ${shellWord(only)}`,
    );
  const example = packagedExample(name);
  if (example !== undefined) return example;
  const meant = (await above(name, cwd)) ?? similar(name, below);
  if (meant === undefined) throw error;
  throw new UserError('no-workflow', error.message, `Did you mean ${shellWord(meant)}?`);
}

/** An example that came with Raymond, such as `examples/poll`, so that a reader can try it anywhere. */
function packagedExample(name: string): string | undefined {
  const [, example] = /^examples\/([a-z]+)\/?$/.exec(name) ?? [];
  if (example === undefined) return undefined;
  // Relative to dist/, which contains the bundle of this file.
  const path = fileURLToPath(new URL(`../examples/${example}`, import.meta.url));
  return existsSync(path) ? path : undefined;
}

const nameOf = (path: string) => basename(path).replace(/\.(?:zip|ya?ml)$/, '');

/** In a folder above, up to the root of the repository: by its name, or by its path there. */
async function above(name: string, cwd: string): Promise<string | undefined> {
  let folder = cwd;
  const wanted = normalize(`${name}/`).slice(0, -1);
  for (let up = 0; up < DEEPEST && !existsSync(join(folder, '.git')); up++) {
    folder = dirname(folder);
    const all = await findWorkflows(folder);
    const found = all.find((path) => path === wanted || nameOf(path) === name);
    if (found !== undefined) return relative(cwd, join(folder, found));
  }
  return undefined;
}

function similar(name: string, paths: readonly string[]): string | undefined {
  const near = nearest(name, paths.map(nameOf));
  return paths.find((path) => nameOf(path) === near);
}

const DEEPEST = 3;
const MOST_ENTRIES = 2_000;

function hasEntry(entries: readonly Dirent[]): boolean {
  return entries.some(({ name }) => isEntryName(name));
}

/** Whether a file with this name makes its folder a workflow. */
export const isEntryName = (name: string) => isStateFile(name) && /^(1_)?START$/.test(stemOf(name));

/** Whether a YAML text is a workflow: it has its states at the top level. */
export const isWorkflowText = (text: string) => /^states:/m.test(text);

function isWorkflowFile(path: string): boolean {
  const extension = extname(path).toLowerCase();
  if (extension === '.zip') return true;
  return (extension === '.yaml' || extension === '.yml') && isWorkflowText(beginning(path));
}

/** Many files are YAML. */
const BEGINNING_BYTES = 64 * 1024;

function beginning(path: string): string {
  return attempt(() => readPartSync(path, 0, BEGINNING_BYTES))?.toString('utf8') ?? '';
}

/** A file that its author may take for the entry, such as START.py. */
export async function unusableEntry(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  return names.find((name) => /^(1_)?START\.\w+$/.test(name) && !isStateFile(name));
}
