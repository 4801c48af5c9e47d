import { setTimeout as delay } from 'node:timers/promises';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import type { RunStore, StoredRun } from '../ports.ts';
import { openRun } from './runs.ts';

/**
 * Reads the journal as it grows, until no process works on the run and all events are read. Returns
 * the run as it is then. `signal` ends the reading early.
 */
export async function followRun(
  store: RunStore,
  id: string,
  each: (event: JournaledEvent, before: Run, after: Run) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<StoredRun> {
  const over = new AbortController();
  const end = () => over.abort();
  signal?.addEventListener('abort', end);
  let read = 0;
  let last: StoredRun | undefined;
  const looking = whenUnowned(store, id, over.signal).then(async () => {
    if (over.signal.aborted) return;
    last = await openRun(store, id);
    if (read >= last.run.seq) end();
  });
  // The watching reports errors, too, and ends the looking.
  looking.catch(end);
  try {
    let run = newRun;
    for await (const event of store.watch(id, 0, over.signal)) {
      const before = run;
      run = apply(before, event);
      await each(event, before, run);
      read = event.seq;
      if (last && read >= last.run.seq) break;
    }
  } finally {
    end();
    signal?.removeEventListener('abort', end);
  }
  await looking;
  return last ?? openRun(store, id);
}

const LOOK_EVERY_MS = 500;

/** Resolves when no process works on the run, or when aborted. */
async function whenUnowned(store: RunStore, id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await store.owner(id).catch(() => undefined)))
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
}
