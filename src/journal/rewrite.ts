import { type Disk, type DiskFile, replaceWith, writeAll, writeBeside } from './disk.ts';
import { exchange } from './exchange.ts';
import { asUnwritable, besideJournal } from './journal-errors.ts';
import { encodeEvents } from './journal-format.ts';
import { readAppends } from './read-journal.ts';

/**
 * Rewrites a journal in this version, and replaces the old file, which may be kept. Omits snapshots:
 * new ones follow.
 *
 * - All lines of an older version get numbers and checksums, so that a file has one version.
 * - A silent owner that may wake up keeps only the old file open, which is no longer read.
 */
export async function rewriteJournal(
  disk: Disk,
  path: string,
  old: 'keep' | 'drop',
): Promise<void> {
  try {
    const fill = (file: DiskFile) => copyAppends(disk, path, file);
    if (old === 'drop') await replaceWith(disk, path, fill);
    else await exchange(disk, path, await writeBeside(disk, path, fill), `${path}.old`);
  } catch (error) {
    throw asUnwritable(path, error);
  }
  // The pointer is a position in the old file. A wrong pointer only costs time.
  await disk.unlink(besideJournal(path).pointer).catch(() => {});
}

async function copyAppends(disk: Disk, path: string, to: DiskFile): Promise<void> {
  let position = 0;
  for await (const appends of readAppends(disk, path)) {
    const parts = appends.map((events) => encodeEvents(events, events[0]?.seq ?? 1));
    const bytes = Buffer.concat(parts);
    await writeAll(to, bytes, position);
    position += bytes.length;
  }
}
