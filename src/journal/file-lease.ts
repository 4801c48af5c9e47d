/**
 * The lease of a run in files. The lock gives the run to one process. Before every change, the lease
 * checks that the process still holds the lock.
 */
import { PositionConflict } from '../model/position-conflict.ts';
import type { Run } from '../model/run.ts';
import type { Lease, OwnedJournal } from '../ports.ts';
import { adoptJournal, createJournal, type FileJournal, openJournal } from './file-journal.ts';
import { publishNow } from './file-now.ts';
import type { FileRunsParts } from './file-runs.ts';
import { chainAt, removeHead, removeLostHeads } from './heads.ts';
import { journalOfAnother } from './journal-errors.ts';
import { keepArchives } from './kept-archives.ts';
import { takeLock } from './lock.ts';
import { checkRunFolder, runPaths } from './project.ts';
import { removeRun } from './remove-run.ts';
import { salvage } from './salvage.ts';
import { type StateWriter, stateWriter } from './state-writer.ts';

export async function takeFileLease(parts: FileRunsParts, id: string): Promise<Lease> {
  const { disk, project, codec, key } = parts;
  const paths = runPaths(project, id);
  await checkRunFolder(disk, paths);
  const world = parts.lockWorld();
  const lock = await takeLock(disk, paths.lock, world);
  let opened: { readonly file: FileJournal<Run>; readonly journal: OwnedJournal } | undefined;
  /** A digest of the events of a run that is not the user's own, as it was opened. */
  let foreign: string | undefined;
  let hasPublished = false;

  const confirm = () => (opened ? opened.file.confirm() : lock.confirm());
  // Readers ignore the publication of a process that does not own the run, so it may also stay.
  const unpublish = () => disk.unlink(paths.now).catch(() => {});
  const refuseSecond = () => {
    if (opened || foreign !== undefined) throw new Error(`The journal of ${id} is already open.`);
  };
  const own = (file: FileJournal<Run>, found?: Run): OwnedJournal => {
    const state = stateWriter({
      disk,
      path: paths.stateFile,
      clock: world.clock,
      freeze: codec.freeze,
      confirm: () => file.confirm(),
      report: () => {},
    });
    const journal = withStateFile(id, file, state);
    opened = { file, journal };
    // A process that was killed right after the end has not written the state file.
    if (found?.status.kind === 'ended') state.update(found);
    return journal;
  };

  return {
    async create(events, after, kept = {}) {
      refuseSecond();
      const first = [...events];
      await keepArchives(disk, paths, kept);
      const file = await createJournal(disk, paths.journal, codec, lock, key);
      const journal = own(file);
      await journal.append(first, after);
      return { journal, unsealed: file.problem };
    },
    async open() {
      refuseSecond();
      const found = await openJournal(disk, paths.journal, codec, lock, key);
      const { run } = found;
      const problem = journalOfAnother(id, run.id);
      if (problem) {
        if ('journal' in found) await found.journal.close();
        throw problem;
      }
      if ('journal' in found) return { run, isOwn: true, journal: own(found.journal, run) };
      foreign = found.digest;
      const journal = sealedLater(id, () => opened?.journal);
      return { run, isOwn: false, doubt: found.doubt, journal };
    },
    async salvage() {
      await lock.confirm();
      return salvage(disk, paths.journal, codec, key);
    },
    confirm,
    async seal() {
      await confirm();
      if (foreign === undefined || opened) return undefined;
      const file = await adoptJournal(disk, paths.journal, codec, lock, key, foreign);
      own(file);
      return file.problem;
    },
    async publish(now) {
      await confirm();
      hasPublished = true;
      await publishNow(disk, paths.now, now, world.self);
    },
    async remove() {
      await confirm();
      await opened?.journal.close();
      const chain = await chainAt(disk, paths.journal);
      if (chain !== undefined) await removeHead(disk, key, chain, paths.journal);
      // Once per process, because it checks the heads of all projects.
      if (!SWEPT.has(key)) await removeLostHeads(disk, key, world.clock.now());
      SWEPT.add(key);
      await removeRun(project, id);
    },
    async release() {
      await opened?.journal.close().catch(() => {});
      if (hasPublished) await lock.confirm().then(unpublish, () => {});
      await lock.release();
    },
  };
}

const SWEPT = new WeakSet<object>();

/** The journal of a lease. Its state file follows each append. */
function withStateFile(id: string, file: FileJournal<Run>, state: StateWriter<Run>): OwnedJournal {
  return {
    async append(events, after) {
      const expected = after.seq - events.length;
      if (expected !== file.seq) throw new PositionConflict(id, expected, file.seq);
      await file.append(events, after);
      state.update(after);
    },
    async close() {
      await state.close();
      await file.close();
    },
  };
}

/** The journal of a run that the user has not accepted yet. */
function sealedLater(id: string, journal: () => OwnedJournal | undefined): OwnedJournal {
  return {
    async append(events, after) {
      const accepted = journal();
      if (!accepted) throw new Error(`Bug: ${id} was changed before it was accepted.`);
      await accepted.append(events, after);
    },
    close: async () => journal()?.close(),
  };
}
