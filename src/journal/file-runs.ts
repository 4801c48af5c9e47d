/** Single runs as files under `.raymond`. `project.ts` has their paths. */
import { changesOf } from '../files/changes.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { Now } from '../model/now.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { EachEvent, RunOwner } from '../ports.ts';
import { type Disk, isSettled } from './disk.ts';
import type { RunCodec } from './file-journal.ts';
import { fileMailbox } from './file-mailbox.ts';
import { readNow } from './file-now.ts';
import { fileRecords } from './file-records.ts';
import { seenHead } from './heads.ts';
import { journalOfAnother } from './journal-errors.ts';
import { keptFiles } from './kept-files.ts';
import type { SingleRuns } from './later.ts';
import { type LockWorld, lockOwner } from './lock.ts';
import { elsewhere } from './lock-errors.ts';
import { isHere } from './lock-owner.ts';
import { oneByOne } from './one-by-one.ts';
import { type Project, runPaths } from './project.ts';
import { beginning } from './read-entries.ts';
import { eventBatches, type ReadRun, readEvents, readRun } from './read-journal.ts';
import type { ReadFileRun } from './survey.ts';
import type { UserKey } from './user-key.ts';

export interface FileRunsParts {
  readonly disk: Disk;
  readonly project: Project;
  readonly codec: RunCodec<Run>;
  readonly key: UserKey;
  readonly lockWorld: () => LockWorld;
  /** How often to check for changes that the file system did not report. */
  readonly lookEveryMs?: number;
}

/** Everything of a store that concerns one run. */
export interface FileRuns extends SingleRuns {
  /** Like `look`, with what an index of runs needs. */
  read(id: string): Promise<ReadFileRun>;
}

export function fileRuns(parts: FileRunsParts): FileRuns {
  const { disk, project, codec, key, lockWorld, lookEveryMs = 1_000 } = parts;
  const owner = async (id: string): Promise<RunOwner | undefined> => {
    const world = lockWorld();
    const found = await lockOwner(disk, runPaths(project, id).lock, world);
    if (!found) return undefined;
    const { pid, started, boot, beat } = found;
    const seen = beat === undefined || isHere(found, world.self);
    return { pid, started, boot, name: seen ? `process ${pid}` : elsewhere(found), isHere: seen };
  };
  type Read = (id: string) => Promise<ReadRun<Run>>;
  const readWith =
    (each?: EachEvent): Read =>
    (id) =>
      readRun(disk, runPaths(project, id).journal, codec, { key, each });
  const unlessUnchanged = unchangedRuns(parts, readWith());
  const look = async (id: string, read: Read): Promise<ReadFileRun> => {
    // In this order, because a process first writes the end of the run, and then releases it.
    const who = await owner(id);
    const { run, chain, doubt } = await read(id);
    const problem = journalOfAnother(id, run.id);
    if (problem) throw problem;
    return {
      ...{ kind: 'stored', id, run, isOwn: doubt === undefined, owner: who },
      ...(doubt && { doubt }),
      ...(chain !== undefined && { chain }),
    };
  };
  const lookSafely = (id: string, read: Read): Promise<ReadFileRun> =>
    look(id, read).catch((error) => {
      if (error instanceof UserError) return { kind: 'damaged', id, problem: error };
      throw error;
    });
  const now = async (id: string): Promise<Now | undefined> => {
    const who = await owner(id);
    return who && readNow(disk, runPaths(project, id).now, who);
  };
  return {
    // The index of a survey already knows the unchanged runs.
    read: (id) => lookSafely(id, readWith()),
    async look(id, each) {
      const found = await lookSafely(id, each ? readWith(each) : unlessUnchanged);
      if (found.kind === 'damaged') return found;
      const { chain: _, ...stored } = found;
      return stored;
    },
    owner,
    events: (id, after = 0) => readEvents(disk, runPaths(project, id).journal, { after }),
    watch: (id, after, signal) =>
      oneByOne(watchBatches(disk, runPaths(project, id).journal, after, signal, lookEveryMs)),
    now,
    watchNow: (id, signal) =>
      watchNow(() => now(id), runPaths(project, id).folder, signal, lookEveryMs),
    // Most commands only look at runs and do not need the code that changes them.
    lease: async (id) => (await import('./file-lease.ts')).takeFileLease(parts, id),
    mailbox: (id) => fileMailbox({ disk, folder: runPaths(project, id).inbox, run: id, key }),
    records: (id) => fileRecords(disk, runPaths(project, id)),
    files: (id) => keptFiles(disk, runPaths(project, id)),
  };
}

/**
 * The runs that were looked at last. A run whose files have not changed since then is not read again
 * (INV-29).
 */
function unchangedRuns(
  { disk, project, key, lockWorld }: FileRunsParts,
  read: (id: string) => Promise<ReadRun<Run>>,
): typeof read {
  const runs = new Map<string, { readonly stamp: string; readonly found: ReadRun<Run> }>();
  return async (id) => {
    const { journal, stateFile } = runPaths(project, id);
    const now = lockWorld().clock.now();
    const stampWith = async (chain: string | undefined) => {
      const seen = [await disk.look(journal), await disk.look(stateFile)];
      if (chain !== undefined) seen.push(await seenHead(disk, key, chain));
      const areSettled = seen.every((one) => one === undefined || isSettled(one, 'file', now));
      return areSettled ? seen.map((one) => one?.stamp).join('\n') : undefined;
    };
    const known = runs.get(id);
    const before = await stampWith(known?.found.chain);
    runs.delete(id);
    const isKnown = known !== undefined && known.stamp === before;
    const found = isKnown ? known.found : await read(id);
    // What is settled was not changed while it was read.
    const stamp = isKnown ? before : await stampWith(found.chain);
    if (stamp !== undefined) runs.set(id, { stamp, found });
    for (const oldest of [...runs.keys()].slice(0, -MOST_UNCHANGED)) runs.delete(oldest);
    return found;
  };
}

const MOST_UNCHANGED = 8;

async function* watchBatches(
  disk: Disk,
  journal: string,
  after: number,
  signal: AbortSignal,
  lookEveryMs: number,
): AsyncGenerator<readonly JournaledEvent[]> {
  const place = beginning();
  for await (const _ of looks(journal, signal, lookEveryMs))
    for await (const events of eventBatches(disk, journal, { place, after })) {
      yield events;
      if (signal.aborted) return;
    }
}

async function* watchNow(
  read: () => Promise<Now | undefined>,
  folder: string,
  signal: AbortSignal,
  lookEveryMs: number,
): AsyncGenerator<Now | undefined> {
  let last: string | undefined;
  // Each publication is a new file, so the folder is watched. The end of an owner changes no file.
  for await (const _ of looks(folder, signal, lookEveryMs)) {
    const now = await read();
    const text = JSON.stringify(now ?? null);
    if (text !== last) yield now;
    last = text;
  }
}

/** Yields when it is time to look at a file or folder: at once, and after each change. */
async function* looks(path: string, signal: AbortSignal, everyMs: number): AsyncGenerator<void> {
  const changes = changesOf(path, everyMs);
  signal.addEventListener('abort', changes.wake);
  try {
    while (!signal.aborted) {
      yield;
      await changes.next();
    }
  } finally {
    signal.removeEventListener('abort', changes.wake);
    changes.close();
  }
}
