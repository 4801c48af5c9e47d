import type { Salvaged } from '../ports.ts';
import { type Disk, type DiskFile, thenClose, writeAll, writeBeside } from './disk.ts';
import { exchange, nameAside } from './exchange.ts';
import type { RunCodec } from './file-journal.ts';
import {
  asUnwritable,
  besideJournal,
  CorruptJournal,
  CutJournal,
  nothingToSalvage,
} from './journal-errors.ts';
import { beginning, readEntries } from './read-entries.ts';
import { openExisting, readRun } from './read-journal.ts';
import { writeState } from './state-writer.ts';

/**
 * Keeps the good lines of a damaged journal. These are the lines before the first bad one, and later
 * lines that continue the numbering, such as after a damaged snapshot. The damaged file stays under
 * another name. The run always has a journal. Does not change a journal without damage.
 */
export async function salvage<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
): Promise<Salvaged | undefined> {
  const damage = await damageOf(disk, path, codec);
  if (!damage) return undefined;
  const good = await goodParts(disk, path);
  if (good.seq === 0) throw nothingToSalvage(path);
  try {
    const kept = damage instanceof CorruptJournal ? await keepOnly(disk, path, good.parts) : WHOLE;
    await showAgain(disk, path, codec);
    return { seq: good.seq, ...kept };
  } catch (error) {
    throw asUnwritable(path, error);
  }
}

const WHOLE = { lostBytes: 0, brokenFile: undefined };

async function damageOf<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
): Promise<CorruptJournal | CutJournal | undefined> {
  try {
    await readRun(disk, path, codec);
    return undefined;
  } catch (error) {
    if (error instanceof CorruptJournal || error instanceof CutJournal) return error;
    throw error;
  }
}

interface Part {
  readonly start: number;
  readonly end: number;
}

async function goodParts(
  disk: Disk,
  path: string,
): Promise<{ readonly seq: number; readonly parts: readonly Part[] }> {
  return thenClose(await openExisting(disk, path), async (file) => {
    const place = beginning();
    const parts: Part[] = [];
    for await (const entries of readEntries(file, path, place))
      parts.push(...entries.filter((entry) => entry.kind !== 'damage'));
    return { seq: place.seq, parts };
  });
}

async function keepOnly(disk: Disk, path: string, parts: readonly Part[]) {
  return thenClose(await disk.open(path, 'read'), async (damaged) => {
    let keptBytes = 0;
    const complete = await writeBeside(disk, path, async (file) => {
      for (const part of parts) keptBytes = await copy(damaged, part, file, keptBytes);
    });
    const lostBytes = (await damaged.size()) - keptBytes;
    return { lostBytes, brokenFile: await exchange(disk, path, complete, `${path}.broken`) };
  });
}

/** Gives the position of the next part. */
async function copy(from: DiskFile, part: Part, to: DiskFile, position: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(Math.min(part.end - part.start, 256 * 1024));
  for (let at = part.start; at < part.end; ) {
    const wanted = chunk.subarray(0, Math.min(chunk.length, part.end - at));
    const got = await from.read(wanted, at);
    if (got === 0) throw new Error('The journal became shorter while it was copied.');
    await writeAll(to, wanted.subarray(0, got), position + at - part.start);
    at += got;
  }
  return position + part.end - part.start;
}

/** The old state file shows events that are lost. It stays under another name, as a record of the loss. */
async function showAgain<R>(disk: Disk, path: string, codec: RunCodec<R>): Promise<void> {
  const { stateFile } = besideJournal(path);
  if (!(await disk.kind(stateFile))) return;
  await nameAside(disk, stateFile, `${stateFile}.broken`);
  await disk.unlink(stateFile);
  const { run } = await readRun(disk, path, codec);
  await writeState(disk, stateFile, codec.freeze(run));
}
