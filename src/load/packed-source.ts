/**
 * All files of a workflow as one archive, so that a machine that lacks them can read exactly the same
 * ones. Scripts may use any file beside them, so folders are packed with their subfolders.
 */
import { createHash } from 'node:crypto';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { type NamedBytes, packFiles, unpackFiles } from '../files/packed-files.ts';
import { readFileWithin, readRegularFile, UnusableFile } from '../files/regular-file.ts';
import { UserError } from '../model/user-error.ts';
import { isSchemaFile } from '../parse/json-schema.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { isStateFile } from '../parse/state.ts';
import type { WorkflowLocation } from './locate.ts';
import { filledFolder } from './unpack.ts';

/** `replaced` are files in place of those of a folder, or in addition to them. */
export async function packSource(
  { kind, path }: WorkflowLocation,
  replaced: readonly NamedBytes[] = [],
): Promise<Uint8Array> {
  const name = basename(path);
  if (kind === 'folder') {
    const isKept = (file: NamedBytes) => replaced.every((one) => one.name !== file.name);
    const files = [...(await filesIn(path)).filter(isKept), ...replaced];
    return packFiles({ note: { kind, name }, files });
  }
  const bytes = await readRegularFile(path, MAX_BYTES);
  return packFiles({ note: { kind: 'file', name }, files: [{ name, bytes }] });
}

/** The path of the workflow, below a folder that has exactly the files of the archive. */
export async function unpackSource(archive: Uint8Array, into: string): Promise<string> {
  const { note, files } = await unpackFiles(archive, noteSchema, MAX_UNPACKED_BYTES);
  if (files.length > MAX_FILES) throw new Error('The stored workflow has too many files.');
  for (const name of [note.name, ...files.map((file) => file.name)]) checkName(name);
  const hash = createHash('sha256').update(archive).digest('hex').slice(0, 32);
  const folder = join(into, `stored-${hash}`);
  const root = note.kind === 'folder' ? note.name : '';
  // Scripts may leave other files there, but no state of the workflow.
  return join(await filledFolder(folder, root, files, isPart), note.name);
}

const isPart = (name: string) => isStateFile(name) || isSchemaFile(name) || name === MANIFEST;

const noteSchema = z.object({ kind: z.enum(['folder', 'file']), name: z.string() });

function checkName(name: string): void {
  const parts = name.split('/');
  const isInside = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isInside || /[\0\\]/.test(name))
    throw new Error(`${JSON.stringify(name)} is not a name in a workflow`);
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Leaves room for the names of the files. */
const MAX_UNPACKED_BYTES = 2 * MAX_BYTES;
const MAX_FILES = 10_000;
const LEFT_OUT = new Set(['.git', '.raymond', 'node_modules', '.DS_Store']);

async function filesIn(folder: string): Promise<readonly NamedBytes[]> {
  const root = await realpath(folder);
  const files: NamedBytes[] = [];
  let left = MAX_BYTES;
  for (const folders = ['']; folders.length > 0; ) {
    const below = folders.pop() ?? '';
    for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
      if (LEFT_OUT.has(entry.name)) continue;
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      else {
        const file = await readInside(root, name, left);
        if (!file) continue;
        left -= file.bytes.length;
        files.push(file);
      }
      if (left < 0 || files.length > MAX_FILES) throw tooLarge(folder);
    }
  }
  return files;
}

/** Undefined for anything that is not a file of the folder: a pipe, or a link that leads out or nowhere. */
async function readInside(
  root: string,
  name: string,
  left: number,
): Promise<NamedBytes | undefined> {
  const path = join(root, name);
  try {
    const bytes = await readFileWithin(root, name, left);
    return { name, bytes, mode: (await stat(path)).mode & 0o777 };
  } catch (error) {
    if (error instanceof UnusableFile && error.code === 'TOO-LARGE') throw tooLarge(root);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (error instanceof UnusableFile || code === 'ENOENT' || code === 'ELOOP') return undefined;
    throw error;
  }
}

function tooLarge(folder: string): UserError {
  return new UserError(
    'large-workflow',
    `${folder} is too large to be stored with the run: more than ${MAX_BYTES / 1024 / 1024} MiB or ${MAX_FILES.toLocaleString('en')} files.`,
    'Move the workflow to its own folder, without other files.',
  );
}
