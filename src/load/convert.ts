/** Writes a workflow in another form: a folder, an archive or one YAML file. */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Agents } from '../model/agent.ts';
import { messageOf } from '../model/message-of.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { isStateFile } from '../parse/state.ts';
import { toYaml } from '../parse/to-yaml.ts';
import { allFiles, cannotConvert } from './all-files.ts';
import { isCompanion } from './companions.ts';
import { locate, type WorkflowLocation } from './locate.ts';
import { writeZip, type ZippedFile } from './write-zip.ts';
import { readZip } from './zip.ts';

interface Conversion {
  readonly from: string;
  readonly to: string;
  readonly cwd: string;
  readonly agents: Agents;
  /** The paths of other workflows in its texts. */
  readonly paths: readonly string[];
  /** Overwrites existing files. */
  readonly force: boolean;
}

/** Writes all files or none, and returns their paths. */
export async function convert(conversion: Conversion): Promise<readonly string[]> {
  const { from, cwd, agents, force } = conversion;
  const location = await locate(from, cwd);
  const target = { path: resolve(cwd, conversion.to), kind: kindOf(conversion.to) };
  if (location.entry !== undefined) {
    const remedy = `Name the workflow: ${shellWord(location.path)}`;
    throw cannotConvert(from, 'it is one state of a workflow.', remedy);
  }
  if (location.kind === target.kind) {
    const what = { folder: 'a folder', zip: 'an archive', yaml: 'a YAML file' }[target.kind];
    throw cannotConvert(from, `it is already ${what}.`, 'To copy it, use cp.');
  }
  await refuseInside(location, target.path);
  refuseMovedPaths(conversion, location, target);
  const outputs = outputsOf(location, target, await allFiles(location, agents), agents);
  await refuseExisting(target, outputs, force);
  await write(target, outputs);
  return outputs.map(({ path }) => path);
}

interface Target {
  readonly path: string;
  readonly kind: WorkflowLocation['kind'];
}

interface Output {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

function kindOf(path: string): Target['kind'] {
  const ending = extname(path).toLowerCase();
  if (ending === '.zip') return 'zip';
  return ending === '.yaml' || ending === '.yml' ? 'yaml' : 'folder';
}

async function refuseInside({ kind, path }: WorkflowLocation, to: string): Promise<void> {
  if (kind !== 'folder') return;
  const parent = await realpath(dirname(to)).catch(() => dirname(to));
  const way = relative(await realpath(path), join(parent, basename(to)));
  if (way.startsWith('..') || isAbsolute(way)) return;
  const remedy = 'Name a place outside of the workflow.';
  throw cannotConvert(path, `${to} would be part of it.`, remedy);
}

/** The paths of a folder start in it. Those of an archive or a YAML file start beside it. */
function refuseMovedPaths(
  { paths }: Conversion,
  { kind, path }: WorkflowLocation,
  target: Target,
): void {
  const home = kind === 'folder' ? path : dirname(path);
  const newHome = target.kind === 'folder' ? target.path : dirname(target.path);
  const moved = paths.find((one) => resolve(home, one) !== resolve(newHome, one));
  if (moved === undefined) return;
  throw cannotConvert(
    path,
    `it enters the workflow ${moved}, but from ${target.path} this path leads elsewhere.`,
    'Convert it by hand, or write the path as an absolute one.',
  );
}

function outputsOf(
  { path }: WorkflowLocation,
  target: Target,
  files: readonly ZippedFile[],
  agents: Agents,
): readonly Output[] {
  switch (target.kind) {
    case 'folder':
      return files.map(({ name, bytes, mode }) => ({
        path: join(target.path, name),
        bytes,
        mode: (mode & 0o755) | 0o600,
      }));
    case 'zip':
      return [{ path: target.path, bytes: writeZip(files), mode: 0o600 }];
    case 'yaml':
      return yamlOutputs(path, target, files, agents);
  }
}

function yamlOutputs(
  from: string,
  { path }: Target,
  files: readonly ZippedFile[],
  agents: Agents,
): readonly Output[] {
  const isWorkflow = ({ name }: ZippedFile) => isStateFile(name) || name === MANIFEST;
  const other = files.find((file) => !isWorkflow(file) && !isCompanion(file.name));
  if (other) {
    const reason = `${other.name} is not a state, and a YAML workflow contains only states.`;
    throw cannotConvert(from, reason, 'Convert it to an archive, or remove the file.');
  }
  const made = toYaml(basename(path), files.filter(isWorkflow), agents);
  if (!made.ok) throw cannotConvert(from, made.reason, 'Convert it to an archive, or change it.');
  const stem = basename(path, extname(path));
  const companions = files.filter((file) => !isWorkflow(file));
  return [
    { path, bytes: Buffer.from(made.value), mode: 0o600 },
    ...companions.map(({ name, bytes }) => ({
      path: join(dirname(path), name.startsWith(`${stem}.`) ? name : `${stem}.${name}`),
      bytes,
      mode: 0o600,
    })),
  ];
}

async function refuseExisting(
  target: Target,
  outputs: readonly Output[],
  force: boolean,
): Promise<void> {
  for (const { path } of outputs) {
    const found = await lstat(path).catch(() => undefined);
    if (!found || (force && !found.isDirectory())) continue;
    throw new UserError(
      'exists',
      `${path} already exists. Nothing was written.`,
      found.isDirectory() ? 'Name another place.' : 'Name another place, or add --force.',
      { file: path },
    );
  }
  if (target.kind !== 'folder') return;
  const names = await readdir(target.path).catch(() => []);
  const kept = names.find((name) => !outputs.some(({ path }) => path === join(target.path, name)));
  if (kept === undefined) return;
  // It would become part of the workflow.
  throw new UserError(
    'exists',
    `${target.path} already contains ${kept}. Nothing was written.`,
    'Name another folder, or remove the file.',
  );
}

/** Each file appears complete, and none appears before all are written. */
async function write({ path, kind }: Target, outputs: readonly Output[]): Promise<void> {
  const home = kind === 'folder' ? path : dirname(path);
  const isNew = kind === 'folder' && !(await stat(path).catch(() => undefined));
  try {
    if (isNew) await mkdir(path, { mode: 0o700 });
    const drafts = join(home, `.raymond-convert-${randomUUID()}`);
    await mkdir(drafts, { mode: 0o700 });
    try {
      for (const { path: file, bytes, mode } of outputs) {
        await writeFile(join(drafts, basename(file)), bytes, { mode, flag: 'wx' });
      }
      if (kind === 'zip') await readZip(join(drafts, basename(path)), basename(path));
      for (const { path: file } of outputs) await rename(join(drafts, basename(file)), file);
    } finally {
      await rm(drafts, { recursive: true, force: true });
    }
  } catch (error) {
    if (isNew) await rm(path, { recursive: true, force: true });
    if (error instanceof UserError) throw error;
    throw new UserError(
      'unwritable',
      `${path} cannot be written: ${messageOf(error)}.`,
      'Name a place where you can write.',
      { file: path },
    );
  }
}
