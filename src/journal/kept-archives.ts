/**
 * Files of workflows that a run keeps, because they are not where the workflows are: those of variants. What
 * the run has read of them is in its journal, so changed files do not count.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../files/regular-file.ts';
import type { KeptWithRun } from '../ports.ts';
import { type Disk, makeFolder, replaceWith, writeAll } from './disk.ts';
import type { RunPaths } from './project.ts';

type Place = Pick<RunPaths, 'archives'>;

export async function keepArchives(
  disk: Disk,
  { archives }: Place,
  { sources = [] }: KeptWithRun,
): Promise<void> {
  if (sources.length === 0) return;
  await makeFolder(disk, archives);
  for (const { ref, archive } of sources)
    await replaceWith(disk, fileOf(archives, ref), (file) =>
      writeAll(file, Buffer.from(archive), 0),
    );
}

export async function archiveIn({ archives }: Place, container: string) {
  const file = fileOf(archives, container);
  return existsSync(file) ? readRegularFile(file, MOST_BYTES) : undefined;
}

const fileOf = (archives: string, container: string) =>
  join(archives, createHash('sha256').update(container).digest('hex').slice(0, 32));

const MOST_BYTES = 128 * 1024 * 1024;
