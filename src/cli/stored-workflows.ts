/** The files of the workflows that a run in a database has read. A run in files has none of them. */
import type { LooseLibrary, StoredSources } from '../load/load.ts';
import type { Run } from '../model/run.ts';
import type { Surroundings } from './surroundings.ts';

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

/** Replaces the stored files of workflows whose changes a person has accepted. */
export async function keepAccepted(
  around: Surroundings,
  run: string,
  refs: readonly string[],
  library: Pick<LooseLibrary, 'pack'>,
): Promise<void> {
  if (!around.database || refs.length === 0) return;
  const { database } = await around.database();
  const { keepSource } = await import('../fleet/belongings.ts');
  for (const ref of refs) await keepSource(database, run, ref, library.pack);
}
