import { type Disk, type DiskFile, replaceWith, writeAll, writeBeside } from './disk.ts';
import { exchange } from './exchange.ts';
import { asUnwritable, besideJournal } from './journal-errors.ts';
import { encodeEvents } from './journal-format.ts';
import { readAppends } from './read-journal.ts';

/**
 * Writes a journal anew, in this version, and puts it in the place of the old file. The old one may be
 * kept. Snapshots are left out: new ones follow.
 *
 * - A journal of an older version gets numbers and checksums, all of it, so that a file has one version.
 * - An earlier owner that is silent, but may wake up, is left with a file that nobody reads any more.
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
  // It names a place in the old file. A wrong hint costs time, nothing else.
  await disk.unlink(besideJournal(path).pointer).catch(() => {});
}

async function copyAppends(disk: Disk, path: string, to: DiskFile): Promise<void> {
  let position = 0;
  for await (const events of readAppends(disk, path)) {
    const bytes = encodeEvents(events, events[0]?.seq ?? 1);
    await writeAll(to, bytes, position);
    position += bytes.length;
  }
}
