/**
 * INV-29: An entry of the index counts only while the files that it describes are unchanged. Errors of
 * the index affect no command.
 *
 * A run that has not changed since an earlier survey comes from the index. Its journal is not opened.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { keptTrees, summaryOf } from '../model/run-summary.ts';
import type { Cache, DamagedRun, Doubt, RunOwner, StoredRun, SurveyedRun } from '../ports.ts';
import { type Disk, isSettled } from './disk.ts';
import { type ChainKey, seenHead } from './heads.ts';
import { listRuns } from './list-runs.ts';
import { hasLock } from './lock-files.ts';
import { type Project, runPaths } from './project.ts';
import { type IndexEntry, readIndex } from './run-index.ts';

/** A run, and the chain that its journal names. */
export type ReadFileRun = (StoredRun & { readonly chain?: string }) | DamagedRun;

interface SurveyParts {
  readonly disk: Disk;
  readonly project: Project;
  readonly index: Cache;
  readonly key: ChainKey;
  readonly now: number;
  read(id: string): Promise<ReadFileRun>;
  owner(id: string): Promise<RunOwner | undefined>;
}

export async function surveyRuns(parts: SurveyParts): Promise<readonly SurveyedRun[]> {
  const ids = await listRuns(parts.disk, parts.project);
  if (ids.length === 0) return [];
  const known = readIndex(await parts.index.read());
  const found: Found[] = [];
  for (let from = 0; from < ids.length; from += RUNS_AT_ONCE) {
    const some = ids.slice(from, from + RUNS_AT_ONCE);
    found.push(...(await Promise.all(some.map((id) => survey(parts, id, known.get(id))))));
    // A server answers others meanwhile.
    await nextTurn();
  }
  const entries = found.flatMap(({ entry }) => entry ?? []);
  const kept = entries.filter((one) => known.get(one.id) === one).length;
  const changes = entries.length - kept + (known.size - kept);
  if (changes * WORTH_WRITING > known.size) await parts.index.write(JSON.stringify(entries));
  return found.map(({ run }) => run);
}

/**
 * Writing the whole index costs more than reading a few runs again, so it is written only if more than
 * one entry in this many has changed.
 */
const WORTH_WRITING = 100;

/** Each run may need an open file, and a process has a limited number. */
const RUNS_AT_ONCE = 16;

/** A run, and its entry for the next survey. */
interface Found {
  readonly run: SurveyedRun;
  readonly entry?: IndexEntry;
}

async function survey(parts: SurveyParts, id: string, known?: IndexEntry): Promise<Found> {
  const { disk, project, key, read, owner, now } = parts;
  const paths = runPaths(project, id);
  // First the folder with the lock: a process first writes the end of the run, and then releases it.
  const folder = await disk.look(paths.folder);
  const journal = await disk.look(paths.journal);
  const isSame = known?.journal === journal?.stamp && known?.folder === (folder?.stamp ?? null);
  if (known && isSame && known.head === (await seenHead(disk, key, known.chain))?.stamp) {
    const { run, doubt } = known;
    if (!known.hasLock || !(await owner(id)))
      return {
        run: { kind: 'stored', id, run, ...ownedBy(doubt), owner: undefined },
        entry: known,
      };
  }
  const found = await read(id);
  if (found.kind === 'damaged') return { run: found };
  const trees = keptTrees(found.run).map(({ tree }) => tree.path);
  const run = { ...summaryOf(found.run), ...(trees.length > 0 && { trees }) };
  const { chain, doubt, ...looked } = found;
  const surveyed = { run: { ...looked, ...(doubt && { doubt }), run } };
  if (found.owner || !isSettled(journal, 'file', now)) return surveyed;
  if (folder && !isSettled(folder, 'folder', now)) return surveyed;
  const head = await seenHead(disk, key, chain);
  if (head ? !isSettled(head, 'file', now) : !doubt) return surveyed;
  const entry: IndexEntry = {
    id,
    journal: journal.stamp,
    folder: folder?.stamp ?? null,
    hasLock: await hasLock(disk, paths.lock),
    ...(chain !== undefined && { chain }),
    ...(head && { head: head.stamp }),
    ...(doubt && { doubt }),
    run,
  };
  return { ...surveyed, entry };
}

const ownedBy = (doubt: Doubt | undefined) => (doubt ? { isOwn: false, doubt } : { isOwn: true });
