import { allRuns } from '../look/all-runs.ts';
import { CONDITIONS, conditionOf } from '../model/condition.ts';
import { counted } from '../model/counted.ts';
import { type Notice, warnings } from '../model/notice.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { nearest } from '../parse/nearest.ts';
import type { RunStore, SurveyedRun } from '../ports.ts';
import type { World } from '../world/world.ts';

export interface ListWish {
  /** Words of `CONDITIONS`, separated by commas. */
  readonly status?: string | undefined;
  /** Only so many of the newest runs. */
  readonly newest?: number | undefined;
}

export interface ListedRuns {
  /** The oldest first. Runs that cannot be read come before all others. */
  readonly runs: readonly SurveyedRun[];
  /** How many runs the project has. */
  readonly total: number;
  /** How many worktrees of a run were deleted or replaced. */
  readonly lost: ReadonlyMap<string, number>;
  readonly notices: readonly Notice[];
}

/** The index has everything, so finished runs are not read. */
export async function list(
  { store, world }: { readonly store: RunStore; readonly world: Pick<World, 'countLost'> },
  { status, newest = Number.POSITIVE_INFINITY }: ListWish = {},
): Promise<ListedRuns> {
  const isWanted = statusFilter(status);
  const all = await allRuns(store);
  const runs = all.filter(isWanted).slice(-newest);
  const lost = new Map<string, number>();
  for (const found of runs) {
    const trees = found.kind === 'stored' ? found.run.trees : undefined;
    const count = trees === undefined ? 0 : await world.countLost(trees);
    if (count > 0) lost.set(found.id, count);
  }
  const notices = [...lost].map(
    ([id, count]) =>
      `${counted(count, 'worktree')} of ${id} ${count === 1 ? 'was' : 'were'} deleted or replaced. To see more: raymond show ${id}`,
  );
  return { runs, total: all.length, lost, notices: warnings(notices) };
}

/** Throws a UserError if a word is no status. */
export function statusFilter(wanted: string | undefined): (found: SurveyedRun) => boolean {
  if (wanted === undefined) return () => true;
  const words = wanted.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !CONDITIONS.some((kind) => kind === word));
  if (unknown === undefined) return (found) => words.includes(conditionOf(found).kind);
  const near = nearest(unknown, CONDITIONS);
  throw wrongUsage(
    `No run can have the status "${unknown}".`,
    near === undefined ? `Name one of ${CONDITIONS.join(', ')}.` : `Did you mean ${near}?`,
  );
}
