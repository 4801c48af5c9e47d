/** Looks at one run. Nothing changes, so what is noticed is part of what is given. */
import { followEvents } from '../host/follow-run.ts';
import { openRun } from '../host/open-run.ts';
import { questionsOf, requestsOf } from '../host/questions.ts';
import { type Notice, warnings } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import type { EachEvent, RunStore, StoredRun } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import type { World } from '../world/world.ts';

interface Looking extends Pick<Surroundings, 'store' | 'clock'> {
  readonly world: Pick<World, 'lostTrees'>;
}

export interface LookedAt extends Awaited<ReturnType<typeof standing>> {
  readonly found: StoredRun;
  /** The time up to which open steps last. */
  readonly at: number;
  readonly notices: readonly Notice[];
}

/** A run, and everything about it that is no event. Throws a UserError if it cannot be read. */
export async function look(
  { store, clock, world }: Looking,
  id: string,
  each?: EachEvent,
): Promise<LookedAt> {
  const found = await openRun(store, id, each);
  const { run } = found;
  return {
    found,
    ...(await standing(store, run)),
    at: lastMoment(found, clock.now()),
    notices: warnings(await world.lostTrees(run)),
  };
}

/** The facts about a run that are no events. */
export async function standing(store: RunStore, run: Run) {
  const owner = await store.owner(run.id);
  const [questions, requests, now] = await Promise.all([
    questionsOf(store, run),
    requestsOf(store, run),
    owner && store.now(run.id),
  ]);
  return { owner, questions, requests, now };
}

/** Without a process, nothing has happened since the newest event. */
export const lastMoment = ({ owner, run }: Pick<StoredRun, 'owner' | 'run'>, now: number) =>
  owner ? Math.max(now, run.updatedAt) : run.updatedAt;

/** The events of a run after a position, and then each new one, until no process works on the run. */
export const attend = (
  around: Pick<Looking, 'store' | 'clock'>,
  id: string,
  options: { readonly after?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
) => followEvents(around, id, options);
