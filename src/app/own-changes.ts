/** Files that changed after the run last recorded them: by the user, or by a step without a record. */
import { openRun } from '../host/open-run.ts';
import type { RewindPlan } from '../interpret/plan-rewind.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { comparerOf } from '../world/wire.ts';

export interface OwnChanges {
  readonly root: string;
  readonly paths: readonly string[];
  /** Why the changes are not known. */
  readonly problem?: string;
}

/** Only those that a rewind replaces or removes. A worktree of an agent has no files of the user. */
export async function ownChanges(
  around: Surroundings,
  id: string,
  { files }: RewindPlan,
): Promise<readonly OwnChanges[]> {
  const wanted = files.filter(({ worktreeOf }) => worktreeOf === undefined);
  if (wanted.length === 0) return [];
  const comparer = comparerOf(around, id);
  const history = await around.world.files(id);
  const newest = await newestRecords(around, id, (cwd) => comparer.rootOf(cwd));
  const found: OwnChanges[] = [];
  for (const { root, tree } of wanted) {
    const last = newest.get(root);
    if (tree === undefined || last === undefined) continue;
    try {
      const now = await history.record(root);
      const pathsOf = async (before: string) =>
        (await comparer.compare(root, [[before, now]])).files.map(({ path }) => path);
      const replaced = new Set(await pathsOf(tree));
      const paths = (await pathsOf(last)).filter((path) => replaced.has(path));
      if (paths.length > 0) found.push({ root, paths });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      found.push({ root, paths: [], problem });
    }
  }
  return found;
}

/** By the root of the working tree. A rewind leaves the files that it restores. */
async function newestRecords(
  { store }: Surroundings,
  id: string,
  rootOf: (cwd: string) => string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const newest = new Map<string, string>();
  await openRun(store, id, (event, _, after) => {
    if (event.type === 'run-rewound')
      for (const { root, tree } of event.files) newest.set(root, tree);
    if ((event.type !== 'files-recorded' && !isStepEnd(event)) || event.tree === undefined) return;
    const root = rootOf(after.agents.get(event.agent)?.cwd ?? after.cwd);
    if (root !== undefined) newest.set(root, event.tree);
  });
  return newest;
}
