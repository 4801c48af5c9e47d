import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import type { Clock, RunStore, StoredRun } from '../ports.ts';
import { openRun } from './open-run.ts';

/** Without a worker, a run in a database makes no progress, so the user must know. */
export const NO_WORKER =
  'No worker is running for this database. Start one on any machine: raymond worker --database <url>';

export interface Follower {
  /** Returning `over` stops following. */
  event(event: JournaledEvent, before: Run | undefined, after: Run): Promise<'over' | undefined>;
  /** The last worker has gone, or one has come back. */
  unattended?(isMissing: boolean): void;
}

/**
 * Reads the journal as it grows, until no process works on the run and all events are read. Returns
 * the run as it is then. `signal` ends the reading early.
 */
export async function followRun(
  { store, clock }: { readonly store: RunStore; readonly clock: Clock },
  id: string,
  follower: Follower,
  signal?: AbortSignal,
): Promise<StoredRun> {
  const over = new AbortController();
  const end = () => over.abort();
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  let read = 0;
  let last: StoredRun | undefined;
  const looking = watchOwner().then(async () => {
    if (over.signal.aborted) return;
    last = await openRun(store, id);
    if (read >= last.run.seq) end();
  });
  // The watch also reports errors, and ends the checks.
  looking.catch(end);
  try {
    let run = newRun;
    for await (const event of store.watch(id, 0, over.signal)) {
      const before = event.seq === 1 ? undefined : run;
      run = apply(run, event);
      const isOver = (await follower.event(event, before, run)) === 'over';
      read = event.seq;
      if (isOver || (last && read >= last.run.seq)) break;
    }
  } finally {
    end();
    signal?.removeEventListener('abort', end);
  }
  await looking;
  return last ?? openRun(store, id);

  /** Resolves when no process works on the run, or when aborted. */
  async function watchOwner(): Promise<void> {
    let isReported = false;
    for (let looks = 0; !over.signal.aborted; looks++) {
      const owner = await store.owner(id).catch(() => undefined);
      if (!owner) return;
      // A worker that is just starting needs a moment.
      const isMissing = owner.isAwaited === true && looks >= LOOKS_FOR_A_WORKER;
      if (isMissing !== isReported) follower.unattended?.(isMissing);
      isReported = isMissing;
      await pause(clock, over.signal);
    }
  }
}

const LOOK_EVERY_MS = 500;
const LOOKS_FOR_A_WORKER = 4;

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.now() + LOOK_EVERY_MS, wake);
    signal.addEventListener('abort', wake);
    function wake() {
      cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    }
  });
}
