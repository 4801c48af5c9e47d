import type { Clock } from '../ports.ts';

/** Whatever is waited for comes at once, and the time is then what it would have been. */
export function jumpingClock(start = Date.UTC(2026, 0, 1)): Clock {
  let now = start;
  return {
    now: () => now++,
    at: (time, callback) => {
      const timer = setImmediate(() => {
        now = Math.max(now, time);
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
}
