/** Packs a workflow as a skill for agents: a folder with SKILL.md and a copy of the workflow. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import * as z from 'zod/mini';
import { check } from '../../app/check.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { namedWorkflows } from '../../graph/named-workflows.ts';
import { realDisk, replaceWith, writeAll } from '../../journal/disk.ts';
import { cureOf, isSystemError, reasonOf } from '../../journal/disk-errors.ts';
import { allFiles } from '../../load/all-files.ts';
import { sha256 } from '../../load/fingerprints.ts';
import { locate } from '../../load/locate.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here } from '../../world/surroundings.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { stdout } from '../terminal/terminal.ts';
import { refuseLinkedPlace } from './linked-place.ts';
import { LONGEST_NAME, skillName, skillText } from './skill-text.ts';

export interface SkillOptions {
  /** The folder of all skills. */
  readonly out?: string;
  readonly name?: string;
  readonly force?: boolean;
}

interface SkillFile {
  /** Relative to the folder of the skill. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** Writes all files or refuses. Replaces only files that it has written itself. */
export async function skill(
  here: Here,
  path: string,
  { out = '.agents/skills', name: given, force = false }: SkillOptions,
): Promise<number> {
  if (given !== undefined && given !== skillName(given))
    throw wrongUsage(
      `The name ${given} is no name of a skill.`,
      `Use at most ${LONGEST_NAME} lower case letters, digits and hyphens, such as ${skillName(given)}.`,
    );
  const report = await check(await here(), path);
  if (report.verdict === 'faulty')
    throw new UserError('broken-workflow', `The workflow ${path} has errors.`, report.next);
  const workflow = await (await configuredLibrary(here)).load(path);
  const [other] = namedWorkflows(workflow);
  if (other !== undefined)
    throw new UserError(
      'cannot-pack',
      `${path} enters the workflow ${other}, which is not a part of it.`,
      'Write a skill that names the place of both: docs/guide/skills.md.',
    );
  const location = await locate(workflow.ref, process.cwd());
  const name = given ?? skillName(workflow.about.title ?? workflow.name);
  const files: readonly SkillFile[] = [
    {
      path: 'SKILL.md',
      bytes: Buffer.from(skillText(name, workflow, report)),
      isExecutable: false,
    },
    ...(await allFiles(location, workflow.agents)).map(({ name, bytes, mode }) => ({
      ...{ path: join('workflow', name), bytes },
      isExecutable: (mode & 0o100) !== 0,
    })),
  ];
  const folder = resolve(out, name);
  await writeSkill(folder, files, force);
  const shown = relative(process.cwd(), folder) || '.';
  stdout.say(
    `Wrote the skill ${name} to ${shown}.`,
    `To test it: raymond check ${shellWord(join(shown, 'workflow'))}`,
  );
  return 0;
}

async function writeSkill(
  folder: string,
  files: readonly SkillFile[],
  force: boolean,
): Promise<void> {
  const record = join(folder, RECORD);
  refuseLinkedPlace(record);
  const own = await ownFiles(record);
  for (const { path, bytes } of files) {
    const file = join(folder, path);
    refuseLinkedPlace(file);
    const now = await hashOf(file);
    const isOwn = now === undefined || now === own[path] || now === sha256(bytes);
    if (!isOwn && !force)
      throw new UserError(
        'exists',
        `${file} exists, and raymond skill did not write it as it is now. Nothing was written.`,
        'Name another place with --out, or replace it with --force.',
        { file },
      );
  }
  const written = Object.fromEntries(files.map(({ path, bytes }) => [path, sha256(bytes)]));
  try {
    // Otherwise a state that the workflow no longer has would stay in the copy.
    for (const [path, hash] of Object.entries(own))
      if (!(path in written) && isPlainPath(path) && (await hashOf(join(folder, path))) === hash)
        await rm(join(folder, path));
    for (const { path, bytes, isExecutable } of files) {
      const file = join(folder, path);
      await put(file, bytes);
      if (isExecutable) await chmod(file, 0o700);
    }
    await put(record, Buffer.from(`${JSON.stringify({ files: written }, undefined, 2)}\n`));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new UserError(
      'unwritable',
      `${folder} cannot be written: ${reasonOf(error)}.`,
      `${cureOf(error)}, or name another place with --out.`,
      { file: folder },
    );
  }
}

/** The files that the command has written, with their hashes. */
const RECORD = '.raymond-skill.json';

const recordSchema = z.object({ files: z.record(z.string(), z.string()) });

async function ownFiles(record: string): Promise<Readonly<Record<string, string>>> {
  const text = await readRegularFile(record, MOST_BYTES).catch(() => undefined);
  try {
    return recordSchema.parse(JSON.parse(text?.toString('utf8') ?? '{}')).files;
  } catch {
    return {};
  }
}

/** Whether a record can mean it. Others could have written the record. */
const isPlainPath = (path: string) => /^workflow\/[^/\\\0]+$/.test(path) && !path.endsWith('/..');

/** Undefined if there is no such file. Something else than a file has a hash that no file has. */
async function hashOf(file: string): Promise<string | undefined> {
  const found = await realDisk.look(file);
  if (!found) return undefined;
  if (found.kind !== 'file') return 'no file';
  return sha256(await readRegularFile(file, MOST_BYTES));
}

async function put(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceWith(realDisk, file, (open) => writeAll(open, bytes, 0));
}

const MOST_BYTES = 256 * 1024 * 1024;
