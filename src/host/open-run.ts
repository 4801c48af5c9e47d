import type { EachEvent, RunStore, StoredRun } from '../ports.ts';

/** Throws a UserError if the run cannot be read. */
export async function openRun(
  store: Pick<RunStore, 'look'>,
  id: string,
  each?: EachEvent,
): Promise<StoredRun> {
  const found = await store.look(id, each);
  if (found.kind === 'damaged') throw found.problem;
  return found;
}
