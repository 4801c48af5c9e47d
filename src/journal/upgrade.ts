import { type Disk, type DiskFile, writeAll, writeBeside } from './disk.ts';
import { exchange } from './exchange.ts';
import { asUnwritable, besideJournal } from './journal-errors.ts';
import { encodeEvents } from './journal-format.ts';
import { readAppends } from './read-journal.ts';

/**
 * Writes a journal of an older version anew in this one, so that a file has one version and all of it
 * is numbered and has checksums. The older file is kept. Its snapshots are left out: new ones follow.
 */
export async function upgradeJournal(disk: Disk, path: string): Promise<void> {
  try {
    const complete = await writeBeside(disk, path, (file) => copyAppends(disk, path, file));
    await exchange(disk, path, complete, `${path}.old`);
  } catch (error) {
    throw asUnwritable(path, error);
  }
  // It names a place in the older file. A wrong hint costs time, nothing else.
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
