/** The files and workflows of a run in a database. */
import type { LooseLibrary, StoredSources } from '../load/load.ts';
import type { Run } from '../model/run.ts';
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
  const travelling = await database.query(
    'select from raymond.runs where id = $1 and remote is not null',
    [run],
  );
  if (travelling.length === 0) return files;
  const refuse = () => Promise.reject(new Error('they travel between the machines of the workers'));
  return { ...files, record: refuse, restore: refuse };
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
