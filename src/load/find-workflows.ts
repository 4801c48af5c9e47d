/** Finds the workflows in a folder and in the folders below it, for a user who named none. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { readPartSync } from '../files/regular-file.ts';
import { attempt } from '../model/attempt.ts';
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

const DEEPEST = 3;
const MOST_ENTRIES = 2_000;

function hasEntry(entries: readonly Dirent[]): boolean {
  return entries.some(({ name }) => isStateFile(name) && /^(1_)?START$/.test(stemOf(name)));
}

function isWorkflowFile(path: string): boolean {
  const extension = extname(path).toLowerCase();
  if (extension === '.zip') return true;
  return (extension === '.yaml' || extension === '.yml') && /^states:/m.test(beginning(path));
}

/** Many files are YAML. A workflow has its states at the top level. */
const BEGINNING_BYTES = 64 * 1024;

function beginning(path: string): string {
  return attempt(() => readPartSync(path, 0, BEGINNING_BYTES))?.toString('utf8') ?? '';
}

/** A file that its author may take for the entry, such as START.py. */
export async function unusableEntry(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  return names.find((name) => /^(1_)?START\.\w+$/.test(name) && !isStateFile(name));
}
