import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { messageOf } from '../model/message-of.ts';
import { UserError } from '../model/user-error.ts';
import { clip } from '../parse/clip.ts';
import { nearest } from '../parse/nearest.ts';
import { isStateFile, stemOf } from '../parse/state.ts';

export interface WorkflowLocation {
  readonly kind: 'folder' | 'zip' | 'yaml';
  /** The absolute path of the folder or the file. */
  readonly path: string;
  /** The state at which to start, if one was named. */
  readonly entry: string | undefined;
  /** The whole path that was named, absolute. */
  readonly ref: string;
}

/** Finds what a path names: a folder, a `.zip`, a `.yaml` file, or a state in one of them. */
export async function locate(path: string, cwd: string): Promise<WorkflowLocation> {
  if (path === '' || path.includes('\0')) throw noWorkflow(path, undefined);
  const ref = resolve(cwd, path);
  const whole = await look(ref, path);
  if (whole) return locationOf(ref, whole, path);

  const parent = dirname(ref);
  const entry = basename(ref);
  const holder = await look(parent, path);
  const kind = holder && containerKind(parent, holder);
  if (kind && (kind !== 'folder' || (await holdsState(parent, entry)))) {
    return { kind, path: parent, entry, ref };
  }
  throw noWorkflow(path, await nearestExisting(ref, path));
}

async function look(path: string, written: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw new UserError(
      'unreadable-workflow',
      `${written} cannot be read: ${messageOf(error)}.`,
      'Make sure that you can read it.',
    );
  }
}

function isAbsence(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG';
}

function locationOf(ref: string, found: Stats, written: string): WorkflowLocation {
  const kind = containerKind(ref, found);
  if (kind) return { kind, path: ref, entry: undefined, ref };
  if (found.isFile() && isStateFile(basename(ref))) {
    return { kind: 'folder', path: dirname(ref), entry: basename(ref), ref };
  }
  throw new UserError(
    'not-a-workflow',
    `${written} is not a workflow.`,
    'Name a folder, a .zip, a .yaml file, or a state file (.md, .sh, .bat, .ps1).',
  );
}

function containerKind(path: string, found: Stats): WorkflowLocation['kind'] | undefined {
  if (found.isDirectory()) return 'folder';
  if (!found.isFile()) return undefined;
  const extension = extname(path).toLowerCase();
  if (extension === '.zip') return 'zip';
  return extension === '.yaml' || extension === '.yml' ? 'yaml' : undefined;
}

/** Whether `folder/NAME` is a state of the folder. Otherwise NAME is a path that does not exist. */
async function holdsState(folder: string, name: string): Promise<boolean> {
  const files = await readdir(folder).catch(() => []);
  return files.some((file) => isStateFile(file) && stemOf(file) === name);
}

/** Names in the folder that resemble the missing one. */
async function nearestExisting(ref: string, written: string): Promise<string | undefined> {
  let missing = ref;
  while (!(await look(dirname(missing), written))?.isDirectory()) {
    if (dirname(missing) === missing) return undefined;
    missing = dirname(missing);
  }
  const part = basename(missing);
  const names = (await workflowsIn(dirname(missing))).filter((name) => name !== part);
  const meant = new Map(names.flatMap((name) => [name, bare(name)].map((form) => [form, name])));
  return meant.get(nearest(part, meant.keys()) ?? '');
}

/** The names in a folder that could be a workflow. */
async function workflowsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !name.startsWith('.'))
    .filter(
      (entry) => entry.isDirectory() || entry.isSymbolicLink() || bare(entry.name) !== entry.name,
    )
    .map(({ name }) => name);
}

function bare(name: string): string {
  return name.replace(/\.(?:md|sh|bat|ps1|zip|ya?ml)$/, '');
}

function noWorkflow(written: string, meant: string | undefined): UserError {
  return new UserError(
    'no-workflow',
    `There is no workflow at ${written === '' ? 'an empty path' : clip(written)}.`,
    meant === undefined
      ? 'Name a folder that contains START.md.'
      : `Did you mean ${meant}? Otherwise, name a folder that contains START.md.`,
  );
}
