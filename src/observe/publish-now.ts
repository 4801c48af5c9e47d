import type { Now } from '../model/now.ts';
import type { Clock, Observer } from '../ports.ts';
import { DoingNow } from './doing-now.ts';

export interface PublishParts {
  publish(now: Now): Promise<void>;
  /** Also paces the publications, so it must be a real clock. */
  readonly clock: Clock;
}

/**
 * Shows other processes what the agents are doing. A newer state replaces the one that waits, and the
 * pause between two publications grows with the time that one takes. Errors are ignored, because the
 * journal detects whether the run is lost.
 */
export function publishNow({ publish, clock }: PublishParts): Observer {
  const doing = new DoingNow();
  let hasChanged = false;
  let earliest = 0;
  let cancel: (() => void) | undefined;
  let publishing: Promise<void> | undefined;

  const start = () => {
    cancel = undefined;
    publishing = write().finally(() => {
      publishing = undefined;
      schedule();
    });
  };
  const write = async () => {
    hasChanged = false;
    const began = clock.now();
    try {
      await publish(doing.snapshot(began));
    } catch {
      // The next change is the next chance.
    }
    const took = clock.now() - began;
    earliest = clock.now() + Math.max(PAUSE_MS, took * PAUSE_PER_WRITING_TIME);
  };
  const schedule = () => {
    if (hasChanged && !cancel && !publishing) cancel = clock.at(earliest, start);
  };
  const note = (isNew: boolean) => {
    if (!isNew) return;
    hasChanged = true;
    schedule();
  };

  return {
    event: (event) => note(doing.event(event)),
    live: (step, live) => note(doing.live(step, live, clock.now())),
    /** Publishes nothing more: what was published ends with the lease. */
    async close() {
      cancel?.();
      hasChanged = false;
      await publishing;
    },
  };
}

/** At most a few publications per second. */
const PAUSE_MS = 300;
/** Publishing takes at most a twentieth of the time. */
const PAUSE_PER_WRITING_TIME = 20;
