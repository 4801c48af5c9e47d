import { dirname } from 'node:path';
import { type Disk, type DiskFile, hasCode, thenClose, writeAll, writeBeside } from './disk.ts';
import { CorruptJournal, nothingToSalvage, unwritableJournal } from './journal-errors.ts';
import { type Fold, readRun } from './read-journal.ts';

export interface Salvaged {
  /** Where the damaged file is now. */
  readonly brokenFile: string;
  readonly keptBytes: number;
  readonly lostBytes: number;
}

/**
 * Keeps the part of a damaged journal before its first bad line, and the damaged file under another
 * name. At no moment is the run without a journal. Does nothing to one that is whole.
 */
export async function salvage<R>(
  disk: Disk,
  path: string,
  fold: Fold<R>,
): Promise<Salvaged | undefined> {
  const keptBytes = await goodBytes(disk, path, fold);
  if (keptBytes === undefined) return undefined;
  if (keptBytes === 0) throw nothingToSalvage(path);
  try {
    return await thenClose(await disk.open(path, 'read'), async (damaged) => {
      const lostBytes = (await damaged.size()) - keptBytes;
      const good = await writeBeside(disk, path, (file) => copy(damaged, file, keptBytes));
      const brokenFile = await exchange(disk, path, good);
      return { brokenFile, keptBytes, lostBytes };
    });
  } catch (error) {
    throw unwritableJournal(path, error, true);
  }
}

async function goodBytes<R>(disk: Disk, path: string, fold: Fold<R>): Promise<number | undefined> {
  try {
    await readRun(disk, path, fold);
    return undefined;
  } catch (error) {
    if (error instanceof CorruptJournal) return error.goodBytes;
    throw error;
  }
}

async function exchange(disk: Disk, path: string, good: string): Promise<string> {
  let aside: string | undefined;
  try {
    aside = await nameAside(disk, path);
    await disk.rename(good, path);
  } catch (error) {
    for (const name of [good, aside]) if (name) await disk.unlink(name).catch(() => {});
    throw error;
  }
  await disk.syncFolder(dirname(path));
  return aside;
}

async function nameAside(disk: Disk, path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${path}.broken-${number}`;
    try {
      await disk.link(path, name);
      return name;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

async function copy(from: DiskFile, to: DiskFile, length: number): Promise<void> {
  const chunk = Buffer.allocUnsafe(256 * 1024);
  for (let position = 0; position < length; ) {
    const wanted = chunk.subarray(0, Math.min(chunk.length, length - position));
    const got = await from.read(wanted, position);
    if (got === 0) throw new Error('The journal became shorter while it was copied.');
    await writeAll(to, wanted.subarray(0, got), position);
    position += got;
  }
}
