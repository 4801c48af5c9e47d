import { RunLost } from '../journal/lock-errors.ts';
import type { Journal } from '../ports.ts';

/**
 * When another process has adopted the steps of a run, they must not be stopped. So this process ends
 * as in a crash: an error that nobody catches is reported, and that is all.
 */
export function crash(loss: RunLost): void {
  process.nextTick(() => {
    throw loss;
  });
}

/** Nothing follows from an append that found out. */
export function crashingIfInherited(journal: Journal): Journal {
  return {
    append: (events, after) =>
      journal.append(events, after).catch((error) => {
        if (!(error instanceof RunLost && error.leavesSteps)) throw error;
        crash(error);
        return new Promise(() => {});
      }),
  };
}
