import type { Clock } from '../ports.ts';

/**
 * A clock that never waits. Each timer fires immediately, and the clock then shows the time of that
 * timer.
 */
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
