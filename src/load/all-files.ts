/** All files of a workflow, including those that are not states, with their permissions. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { readFileWithin, readRegularFile } from '../files/regular-file.ts';
import type { Agents } from '../model/agent.ts';
import { messageOf } from '../model/message-of.ts';
import { UserError } from '../model/user-error.ts';
import { README } from '../parse/state.ts';
import { toFiles } from '../parse/to-files.ts';
import { decodeUtf8 } from '../parse/utf8.ts';
import { testsBeside } from './companions.ts';
import type { WorkflowLocation } from './locate.ts';
import type { ZippedFile } from './write-zip.ts';
import { MAX_YAML_BYTES } from './yaml-file.ts';
import { readZip } from './zip.ts';

export async function allFiles(
  { kind, path }: Pick<WorkflowLocation, 'kind' | 'path'>,
  agents: Agents,
): Promise<readonly ZippedFile[]> {
  switch (kind) {
    case 'folder':
      return filesOfFolder(path);
    case 'zip':
      return filesOfZip(path);
    case 'yaml':
      return filesOfYaml(path, agents);
  }
}

export function cannotConvert(what: string, reason: string, remedy: string): UserError {
  return new UserError('cannot-convert', `${what} cannot be converted: ${reason}`, remedy);
}

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 10_000;

async function filesOfFolder(folder: string): Promise<readonly ZippedFile[]> {
  const root = await realpath(folder);
  const entries = (await readdir(root, { withFileTypes: true })).filter(
    ({ name }) => name !== '.DS_Store',
  );
  if (entries.length > MAX_FILES) {
    const reason = `it contains more than ${MAX_FILES.toLocaleString('en')} files.`;
    throw cannotConvert(folder, reason, 'Keep only the files of the workflow in it.');
  }
  const files: ZippedFile[] = [];
  let left = MAX_BYTES;
  for (const entry of entries) {
    const { name } = entry;
    if (entry.isDirectory()) {
      const remedy = 'Move it out of the workflow, or copy the workflow as it is.';
      throw cannotConvert(folder, `it contains the folder ${name}.`, remedy);
    }
    const bytes = await readFileWithin(root, name, left).catch((error: unknown) => {
      throw cannotConvert(
        folder,
        `${name} cannot be read: ${messageOf(error)}.`,
        'Remove or replace it.',
      );
    });
    left -= bytes.length;
    files.push({ name, bytes, mode: (await stat(join(root, name))).mode & 0o777 });
  }
  return files;
}

async function filesOfZip(path: string): Promise<readonly ZippedFile[]> {
  const files = await readZip(path, basename(path));
  return files.map(({ name, content, mode }) => {
    if ('bytes' in content) return { name, bytes: content.bytes, mode };
    const problem = 'problem' in content ? content.problem : 'It cannot be read.';
    throw cannotConvert(path, `${name}: ${problem}`, 'Pack it again without this file.');
  });
}

/** The tests, the rehearsal and the README of a YAML workflow are beside it. In a folder, they are inside. */
async function filesOfYaml(path: string, agents: Agents): Promise<readonly ZippedFile[]> {
  const decoded = decodeUtf8(await readRegularFile(path, MAX_YAML_BYTES));
  if (!decoded.ok) {
    const reason = `the byte at offset ${decoded.offset} is not UTF-8.`;
    throw cannotConvert(path, reason, 'Save the file as UTF-8.');
  }
  const made = toFiles(basename(path), decoded.text, agents);
  if (!made.ok) throw cannotConvert(path, made.reason, 'Correct the workflow first.');
  const home = dirname(path);
  const stem = basename(path, extname(path));
  const tests = (await testsBeside(path)).map((file) => basename(file));
  const beside = [...tests, `${stem}.rehearsal.yaml`, `${stem}.${README}`];
  const companions = beside.map(async (name) => {
    const bytes = await readFileWithin(home, name, MAX_YAML_BYTES).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw cannotConvert(
        path,
        `${name} cannot be read: ${messageOf(error)}.`,
        'Remove or replace it.',
      );
    });
    return bytes === undefined ? [] : [{ name: nameInside(name, stem), bytes }];
  });
  const files = [...made.value, ...(await Promise.all(companions)).flat()];
  return files.map((file) => ({ ...file, mode: 0o600 }));
}

/** `flow.first.test.yaml` beside `flow.yaml` is `first.test.yaml` in a folder. */
function nameInside(name: string, stem: string): string {
  const rest = name.slice(stem.length + 1);
  return /^test\.ya?ml$/.test(rest) ? name : rest;
}
