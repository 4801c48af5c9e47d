import type { Disk } from './disk.ts';
import type { Project } from './project.ts';
import { isRunId } from './run-id.ts';

/** The ids of all runs that have a journal or a state file, in order. Ignores files with other names. */
export async function listRuns(disk: Disk, { stateFolder }: Project): Promise<string[]> {
  if ((await disk.kind(stateFolder)) !== 'folder') return [];
  const ids = new Set<string>();
  for (const name of await disk.list(stateFolder)) {
    const id = /^([^.].*)\.jsonl?$/u.exec(name)?.[1];
    if (id && isRunId(id)) ids.add(id);
  }
  return [...ids].sort();
}
