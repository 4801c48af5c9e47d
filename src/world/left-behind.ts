import { isCutOff } from '../model/condition.ts';
import type { RunStore, SurveyedRun } from '../ports.ts';

/** Hints about other runs of the project: those that a crash or a shutdown left unfinished, and those at work here. */
export async function leftBehind(
  store: RunStore,
  besidesHere: BesidesHere | undefined,
): Promise<readonly string[]> {
  const runs = await store.survey();
  const crashed = runs
    .flatMap((found) => (found.kind === 'stored' && isCutOff(found) ? [found] : []))
    .toSorted((a, b) => a.run.startedAt - b.run.startedAt);
  const own = crashed.filter(({ isOwn }) => isOwn).map(({ id }) => id);
  const foreign = crashed.filter(({ isOwn }) => !isOwn).map(({ id }) => id);
  return [
    ...(own.length > 0
      ? [
          `Unfinished after a crash or a shutdown: ${some(own)}. To continue ${own.length === 1 ? 'it' : 'them'}: ${how(own)}`,
        ]
      : []),
    ...(foreign.length > 0
      ? [
          `Unfinished, but not started by you here: ${some(foreign)}. To check: raymond show ${foreign[0]}`,
        ]
      : []),
    ...(besidesHere ? await besides(store, runs, besidesHere) : []),
  ];
}

export interface BesidesHere {
  /** The directory of the new run. */
  readonly cwd: string;
  /** Whether a step of that run has started this process. */
  isInside(run: string): Promise<boolean>;
}

/** Two runs in one directory change the same files. */
async function besides(
  store: RunStore,
  runs: readonly SurveyedRun[],
  { cwd, isInside }: BesidesHere,
): Promise<readonly string[]> {
  const here: string[] = [];
  for (const found of runs) {
    if (found.kind === 'damaged' || !found.owner || found.run.isRehearsal) continue;
    const looked = await store.look(found.id);
    if (looked.kind === 'damaged' || looked.run.cwd !== cwd || (await isInside(found.id))) continue;
    here.push(found.id);
  }
  if (here.length === 0) return [];
  const verb = here.length === 1 ? 'works' : 'work';
  return [
    `${some(here)} also ${verb} in this directory, on the same files. To give a run its own: git worktree add ../NAME && cd ../NAME`,
  ];
}

function some(ids: readonly string[]): string {
  return ids.slice(0, 3).join(', ') + (ids.length > 3 ? ` and ${ids.length - 3} more` : '');
}

function how(ids: readonly string[]): string {
  return ids.length === 1 ? `raymond resume ${ids[0]}` : 'raymond resume --all';
}
