import type { Salvaged } from '../ports.ts';
import { throwawayChain } from './chain.ts';
import { type Disk, thenClose, writeBeside } from './disk.ts';
import { exchange, nameAside } from './exchange.ts';
import type { RunCodec } from './file-journal.ts';
import { type ChainKey, chainIn, type OpenChain, removeHead } from './heads.ts';
import {
  asUnwritable,
  besideJournal,
  CorruptJournal,
  CutJournal,
  nothingToSalvage,
} from './journal-errors.ts';
import { beginning, type JournalEntry, readEntries } from './read-entries.ts';
import { openExisting, readRun } from './read-journal.ts';
import { JournalCopy, withNewChain } from './rewrite.ts';
import { writeState } from './state-writer.ts';
import { claimOf, type Verifier } from './verify.ts';

/**
 * Keeps the good lines of a damaged journal. These are the lines before the first bad one, and later
 * lines that continue the numbering, such as after a damaged snapshot. If the journal is the user's own,
 * only lines that were written with the user's key are good. The damaged file stays under another name.
 * The run always has a journal. Does not change a journal without damage.
 */
export async function salvage<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  key: ChainKey,
): Promise<Salvaged | undefined> {
  const isOwn = await begins(disk, path, key);
  const damage = await damageOf(disk, path, codec, { key, isOwn });
  if (damage === undefined) return undefined;
  const opened: OpenChain[] = [];
  const keep = (chain: OpenChain) => {
    opened.push(chain);
    return keepGood(disk, path, key, chain, isOwn);
  };
  try {
    if (typeof damage === 'number') {
      await showAgain(disk, path, codec);
      return { seq: damage, lostBytes: 0, brokenFile: undefined };
    }
    const { old, ...salvaged } = isOwn
      ? await withNewChain(disk, path, key, keep)
      : await keep({ chain: throwawayChain(), head: undefined, problem: undefined });
    for (const { head } of opened) await head?.close();
    if (isOwn && old !== undefined) await removeHead(disk, key, old, path).catch(() => {});
    await disk.unlink(besideJournal(path).pointer).catch(() => {});
    await showAgain(disk, path, codec);
    return salvaged;
  } catch (error) {
    throw asUnwritable(path, error);
  }
}

/** Whether the journal begins with lines of the user. */
async function begins(disk: Disk, path: string, key: ChainKey): Promise<boolean> {
  return thenClose(await openExisting(disk, path), async (file) => {
    const claim = await claimOf(disk, file, key);
    if (claim.kind === 'none') return false;
    const verifier = claim.verifier();
    for await (const entries of readEntries(file, path, beginning(), verifier))
      if (entries.length > 0) break;
    return verifier.fault !== 0;
  });
}

/** Whether lines are bad, or the last event if only the state file is wrong. */
async function damageOf<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  { key, isOwn }: { readonly key: ChainKey; readonly isOwn: boolean },
): Promise<'lines' | number | undefined> {
  try {
    const { doubt } = await readRun(disk, path, codec, { key });
    return isOwn && doubt !== undefined ? 'lines' : undefined;
  } catch (error) {
    if (error instanceof CutJournal && error.by === 'state') return error.seq;
    if (error instanceof CorruptJournal || error instanceof CutJournal) return 'lines';
    throw error;
  }
}

async function keepGood(
  disk: Disk,
  path: string,
  key: ChainKey,
  chain: OpenChain,
  isOwn: boolean,
): Promise<Salvaged & { readonly old: string | undefined }> {
  return thenClose(await openExisting(disk, path), async (damaged) => {
    const claim = await claimOf(disk, damaged, key);
    const verifier = isOwn && claim.kind === 'chain' ? claim.verifier() : undefined;
    let [seq, keptBytes] = [0, 0];
    const complete = await writeBeside(disk, path, async (file) => {
      const copy = new JournalCopy(file, chain);
      for await (const entries of readEntries(damaged, path, beginning(), verifier)) {
        const good = entries.filter((entry) => isGood(entry, verifier));
        keptBytes += good.reduce((sum, { start, end }) => sum + end - start, 0);
        await copy.add(good.flatMap((entry) => (entry.kind === 'append' ? [entry.events] : [])));
      }
      seq = (await copy.finish()).seq;
      if (seq === 0) throw nothingToSalvage(path);
    });
    const lostBytes = (await damaged.size()) - keptBytes;
    const brokenFile = await exchange(disk, path, complete, `${path}.broken`);
    return { seq, lostBytes, brokenFile, old: await chainIn(damaged) };
  });
}

type Good = Exclude<JournalEntry, { kind: 'damage' }>;

function isGood(entry: JournalEntry, verifier: Verifier | undefined): entry is Good {
  return entry.kind !== 'damage' && entry.end <= (verifier?.fault ?? Number.POSITIVE_INFINITY);
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
