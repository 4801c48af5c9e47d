/** The files and workflows of a run in a database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refsOf } from '../execute/git/file-history.ts';
import type { LooseLibrary, StoredSources } from '../load/load.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import type { FileHistory } from '../ports.ts';
import type { Surroundings } from './surroundings.ts';
import { filesOf } from './wire.ts';

export async function storedWith(
  around: Surroundings,
  run: Run,
): Promise<StoredSources | undefined> {
  if (!around.database) return undefined;
  const { database } = await around.database();
  const { storedSources } = await import('../fleet/belongings.ts');
  const expected = (ref: string) => run.workflowFiles.get(ref);
  return storedSources(database, run.id, expected, around.workspace(run.id).source);
}

/** The files of a run. Those that travel through a remote are on other machines. */
export async function filesHere(around: Surroundings, run: string): Promise<FileHistory> {
  const files = filesOf(around, run);
  if (!around.database) return files;
  const { database } = await around.database();
  const { findRow } = await import('../postgres/run-row.ts');
  const row = await findRow(database, run);
  if (!row || row.remote === null) return files;
  const refuse = () => Promise.reject(new Error('they travel between the machines of the workers'));
  return { ...files, record: refuse, restore: refuse };
}

/**
 * Removes the snapshots of a run from the remote through which its files travel. Gives the lines for the
 * user if git cannot do it here.
 */
export async function forgetSnapshots(
  around: Surroundings,
  run: string,
): Promise<readonly string[]> {
  if (!around.database) return [];
  const { database, parts } = await around.database();
  const { findRow } = await import('../postgres/run-row.ts');
  const row = await findRow(database, run);
  if (!row || row.remote === null) return [];
  const { remote } = row;
  const { ownRun } = await import('../postgres/own-run.ts');
  const { forget, isUsable, withoutSecrets } = await import('../execute/git/remote.ts');
  const folder = await mkdtemp(join(tmpdir(), 'raymond-'));
  try {
    const { isOwn } = await ownRun(database, parts, run, row);
    if (!isOwn) throw new Error('you did not start the run');
    await forget({ url: remote, folder }, refsOf(run));
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (!isUsable(remote)) return [`The snapshots of ${run} stay at its remote: ${why}.`];
    const address = shellWord(withoutSecrets(remote));
    return [
      `The snapshots of ${run} stay at its remote: ${why}`,
      `To remove them: git push ${address} --delete $(git ls-remote ${address} '${refsOf(run)}*' | cut -f 2)`,
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Replaces the stored files of workflows whose changes a person has accepted. */
export async function keepAccepted(
  around: Surroundings,
  run: string,
  refs: readonly string[],
  library: Pick<LooseLibrary, 'pack'>,
): Promise<void> {
  if (!around.database || refs.length === 0) return;
  const { database, parts } = await around.database();
  const { keepSource } = await import('../fleet/belongings.ts');
  await database.repeatable(async (queries) => {
    for (const ref of refs) await keepSource(queries, parts.rows, run, ref, library.pack);
  });
}
