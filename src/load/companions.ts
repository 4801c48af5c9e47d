import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type * as z from 'zod/mini';
import { readFileWithin, readRegularFile } from '../files/regular-file.ts';
import { messageOf } from '../model/message-of.ts';
import { UserError } from '../model/user-error.ts';
import { readCheckedYaml } from '../parse/checked-yaml.ts';
import { README } from '../parse/state.ts';
import { decodeUtf8 } from '../parse/utf8.ts';
import { locate } from './locate.ts';

/** The files that accompany a workflow and are not part of it. */
export interface Companions {
  /** The path of the file with answers for a rehearsal; the file may not exist. */
  readonly rehearsal: string;
  readonly tests: readonly string[];
  /** The path for a new test with this name. */
  newTest(name: string): string;
  /** The folders that contain the workflow and its companions. */
  readonly folders: readonly string[];
}

/** `unpacked` returns the folder in which the workflow's own files can be read. */
export async function companionsOf(
  ref: string,
  unpacked: (ref: string) => Promise<string>,
): Promise<Companions> {
  const { kind, path } = await locate(ref, '/');
  if (kind === 'folder') {
    return {
      rehearsal: join(path, REHEARSAL),
      tests: await testsIn(path, () => true),
      newTest: (name) => join(path, `${name}.test.yaml`),
      folders: [path],
    };
  }
  const home = dirname(path);
  const stem = basename(path, extname(path));
  const beside = await testsBeside(path);
  const inside = kind === 'zip' ? await unpacked(ref) : undefined;
  return {
    rehearsal: inside ? join(inside, REHEARSAL) : join(home, `${stem}.rehearsal.yaml`),
    tests: inside ? [...(await testsIn(inside, () => true)), ...beside] : beside,
    newTest: (name) => join(home, `${stem}.${name}.test.yaml`),
    folders: [home],
  };
}

/** The path of the file with an eval of a workflow; the file may not exist. */
export async function evalFileOf(ref: string): Promise<string> {
  const { kind, path } = await locate(ref, '/');
  if (kind === 'folder') return join(path, EVAL);
  return join(dirname(path), `${basename(path, extname(path))}.${EVAL}`);
}

/** The tests of a workflow in one file. */
export function testsBeside(path: string): Promise<readonly string[]> {
  const stem = basename(path, extname(path));
  return testsIn(dirname(path), (name) => name.startsWith(`${stem}.`));
}

/** Whether a file in the folder of a workflow is one of its companions. */
export function isCompanion(name: string): boolean {
  return name === REHEARSAL || name === EVAL || name === README || isTest(name);
}

const REHEARSAL = 'rehearsal.yaml';
const EVAL = 'eval.yaml';

const isTest = (name: string) => /\.test\.ya?ml$/.test(name) && !name.startsWith('.');

/**
 * A companion, read by its schema; undefined if it does not exist. It must not be a link to another
 * folder.
 */
export function readCompanion<T extends z.ZodMiniType>(
  schema: T,
  file: string,
): Promise<z.output<T> | undefined> {
  return readBySchema(
    schema,
    file,
    readFileWithin(dirname(file), basename(file), MAX_COMPANION_BYTES),
  );
}

/** The same for a file that the user named. It may be anywhere. */
export function readNamedCompanion<T extends z.ZodMiniType>(
  schema: T,
  file: string,
): Promise<z.output<T> | undefined> {
  return readBySchema(schema, file, readRegularFile(file, MAX_COMPANION_BYTES));
}

/** Recordings of long runs are the largest companions. */
const MAX_COMPANION_BYTES = 16 * 1024 * 1024;

async function readBySchema<T extends z.ZodMiniType>(
  schema: T,
  file: string,
  reading: Promise<Buffer>,
): Promise<z.output<T> | undefined> {
  const bytes = await reading.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new UserError(
      'unreadable',
      `${file} cannot be read: ${messageOf(error)}.`,
      'Replace it with a file that you can read.',
      { file },
    );
  });
  if (bytes === undefined) return undefined;
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) {
    throw new UserError(
      'not-utf8',
      `${file} is not UTF-8: the byte at offset ${decoded.offset} is not valid.`,
      'Save the file as UTF-8.',
      { file },
    );
  }
  const read = readCheckedYaml(schema, file, decoded.text);
  if (read.ok) return read.value;
  const [{ line, column, message, remedy }] = read.faults;
  throw new UserError(
    'bad-file',
    `${file}:${line}:${column}: ${message}`,
    remedy ?? 'Correct the file.',
    { file, line, column },
  );
}

async function testsIn(folder: string, belongs: (name: string) => boolean): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => isTest(name) && belongs(name));
  return names.sort().map((name) => join(folder, name));
}
