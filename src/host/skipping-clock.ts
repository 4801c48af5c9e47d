import type { Clock } from '../ports.ts';

export interface SkippingClock extends Clock {
  /** Sets the clock forward to a time. Everything that waits for that time happens now. */
  skipTo(time: number): void;
}

/** A clock that can be set forward. It starts no earlier than `start`. */
export function skippingClock(base: Clock, start = 0): SkippingClock {
  let aheadMs = Math.max(0, start - base.now());
  const now = () => base.now() + aheadMs;
  const waiting = new Set<{ readonly begin: () => void }>();
  return {
    now,
    at(time, callback) {
      let cancel = () => {};
      const wait = {
        begin() {
          cancel();
          cancel = base.at(time - aheadMs, () => {
            waiting.delete(wait);
            callback();
          });
        },
      };
      waiting.add(wait);
      wait.begin();
      return () => {
        waiting.delete(wait);
        cancel();
      };
    },
    skipTo(time) {
      aheadMs += Math.max(0, time - now());
      for (const wait of [...waiting]) wait.begin();
    },
  };
}
