import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type * as z from 'zod/mini';
import { UserError } from '../model/user-error.ts';
import { readCheckedYaml } from '../parse/checked-yaml.ts';
import { locate } from './locate.ts';

/** The files that accompany a workflow and are no part of it. */
export interface Companions {
  /** Where the answers for a rehearsal would be. */
  readonly rehearsal: string;
  readonly tests: readonly string[];
  /** Where a new test of this name belongs. */
  newTest(name: string): string;
  /** The folders in which the workflow and its companions lie. */
  readonly folders: readonly string[];
}

/** `unpacked` gives the folder in which the workflow's own files can be read. */
export async function companionsOf(
  ref: string,
  unpacked: (ref: string) => Promise<string>,
): Promise<Companions> {
  const { kind, path } = await locate(ref, '/');
  if (kind === 'folder') {
    return {
      rehearsal: join(path, 'rehearsal.yaml'),
      tests: await testsIn(path, () => true),
      newTest: (name) => join(path, `${name}.test.yaml`),
      folders: [path],
    };
  }
  const home = dirname(path);
  const stem = basename(path, extname(path));
  const beside = await testsIn(home, (name) => name.startsWith(`${stem}.`));
  const inside = kind === 'zip' ? await unpacked(ref) : undefined;
  return {
    rehearsal: inside ? join(inside, 'rehearsal.yaml') : join(home, `${stem}.rehearsal.yaml`),
    tests: inside ? [...(await testsIn(inside, () => true)), ...beside] : beside,
    newTest: (name) => join(home, `${stem}.${name}.test.yaml`),
    folders: [home],
  };
}

/** A file that a person wrote, read by its schema; undefined when there is none. */
export async function readCompanion<T extends z.ZodMiniType>(
  schema: T,
  file: string,
): Promise<z.output<T> | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new UserError('unreadable', `${file} cannot be read.`, 'See to it that you may read it.');
  });
  if (text === undefined) return undefined;
  const read = readCheckedYaml(schema, file, text);
  if (read.ok) return read.value;
  const [{ line, column, message, remedy }] = read.faults;
  throw new UserError(
    'bad-file',
    `${file}:${line}:${column}: ${message}`,
    remedy ?? 'Correct the file.',
  );
}

async function testsIn(folder: string, belongs: (name: string) => boolean): Promise<string[]> {
  const names = (await readdir(folder)).filter(
    (name) => /\.test\.ya?ml$/.test(name) && !name.startsWith('.') && belongs(name),
  );
  return names.sort().map((name) => join(folder, name));
}
