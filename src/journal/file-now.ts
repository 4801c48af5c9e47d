/**
 * The publication of the process that works on a run: one small file, replaced as a whole. It names
 * its process, because a killed process leaves it behind.
 */
import * as z from 'zod/mini';
import { type Now, nowSchema } from '../model/now.ts';
import type { RunOwner } from '../ports.ts';
import { type Disk, readText, replaceCache } from './disk.ts';

type Publisher = Pick<RunOwner, 'pid' | 'started' | 'boot'>;

export function publishNow(
  disk: Disk,
  file: string,
  now: Now,
  { pid, started, boot }: Publisher,
): Promise<void> {
  const publication: Publication = { by: { pid, started, boot }, now };
  return replaceCache(disk, file, JSON.stringify(publication));
}

/** Agents can write into the folder of a run, so any content is possible. */
export async function readNow(
  disk: Disk,
  file: string,
  { pid, started, boot }: Publisher,
): Promise<Now | undefined> {
  try {
    const text = (await readText(disk, file, MAX_BYTES)) ?? 'null';
    const { data } = z.safeParse(publicationSchema, JSON.parse(text));
    const { by, now } = data ?? {};
    return by?.pid === pid && by.started === started && by.boot === boot ? now : undefined;
  } catch {
    return undefined;
  }
}

/** Several times the size of the largest publication. */
const MAX_BYTES = 1024 * 1024;

const publicationSchema = z.object({
  by: z.object({ pid: z.number(), started: z.string(), boot: z.string() }),
  now: nowSchema,
});
type Publication = z.infer<typeof publicationSchema>;
