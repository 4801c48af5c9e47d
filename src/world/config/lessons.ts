/**
 * INV-48: A lesson reaches a run only if the user has kept it.
 *
 * The lessons of each workflow, in the folder of the user's configuration. Agents cannot change it, and no
 * project brings files there.
 */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { readText, realDisk, replaceFile } from '../../journal/disk.ts';
import { type Lesson, lessonSchema, MOST_LESSONS } from '../../model/notes.ts';
import { UserError } from '../../model/user-error.ts';
import { realPath } from '../../options/leads-out.ts';
import { checkOwn, makeOwnFolder, userConfigFolder } from './user-folders.ts';

const recordSchema = z.object({ workflow: z.string(), lessons: z.array(lessonSchema) });

export async function lessonsOf(workflow: string): Promise<readonly Lesson[]> {
  const file = fileOf(workflow);
  await checkOwn(dirname(file));
  await checkOwn(file);
  const text = await readText(realDisk, file, MOST_BYTES);
  if (text === undefined) return [];
  const record = parsed(text);
  if (record?.workflow !== nameOf(workflow))
    throw new UserError('bad-lessons', `${file} has no lessons of ${workflow}.`, 'Remove it.', {
      file,
    });
  return record.lessons;
}

/** A lesson replaces the one of the same name. Throws a UserError if there are too many. */
export async function keepLessons(workflow: string, kept: readonly Lesson[]): Promise<void> {
  const names = new Set(kept.map(({ name }) => name));
  const others = (await lessonsOf(workflow)).filter(({ name }) => !names.has(name));
  const lessons = [...others, ...kept];
  const bytes = lessons.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (lessons.length > MOST_LESSONS.count || bytes > MOST_LESSONS.allBytes)
    throw new UserError(
      'too-many-lessons',
      `A workflow can have ${MOST_LESSONS.count} lessons of ${MOST_LESSONS.allBytes / 1024} KiB together, and these would be ${lessons.length} of ${Math.ceil(bytes / 1024)} KiB. Nothing was kept.`,
      `Keep fewer, or remove some from ${fileOf(workflow)}.`,
    );
  const file = fileOf(workflow);
  await makeOwnFolder(dirname(file));
  const record = { workflow: nameOf(workflow), lessons };
  await replaceFile(realDisk, file, `${JSON.stringify(record, undefined, 2)}\n`);
}

/** Returns the number of lessons that there were. */
export async function forgetLessons(workflow: string): Promise<number> {
  const { length } = await lessonsOf(workflow);
  if (length > 0) await realDisk.unlink(fileOf(workflow));
  return length;
}

const nameOf = (workflow: string) => realPath(workflow) ?? workflow;

function fileOf(workflow: string): string {
  const hash = createHash('sha256').update(nameOf(workflow)).digest('hex');
  return join(userConfigFolder(), 'lessons', `${hash}.json`);
}

function parsed(text: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const MOST_BYTES = 1024 * 1024;
