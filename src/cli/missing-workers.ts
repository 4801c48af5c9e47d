/** Nothing happens to a run in a database without a worker, so the user has to know. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunStore } from '../ports.ts';

export const NO_WORKER =
  'No worker carries the runs of this database now. Start one on any machine: raymond worker --database <url>';

/** Calls `report` each time when the last worker is gone, and when there is one again. */
export async function reportMissingWorkers(
  store: Pick<RunStore, 'owner'>,
  id: string,
  signal: AbortSignal,
  report: (isMissing: boolean) => void,
): Promise<void> {
  let isReported = false;
  for (let looks = 0; !signal.aborted; looks++) {
    // A worker that starts at the same time needs a moment.
    const isMissing = looks > 0 && (await isWithoutWorker(store, id));
    if (isMissing !== isReported) report(isMissing);
    isReported = isMissing;
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

export async function isWithoutWorker(
  store: Pick<RunStore, 'owner'>,
  id: string,
): Promise<boolean> {
  const owner = await store.owner(id).catch(() => undefined);
  return owner?.isAwaited === true;
}

const LOOK_EVERY_MS = 2_000;
