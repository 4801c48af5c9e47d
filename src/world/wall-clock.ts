import type { Clock } from '../ports.ts';
import { LONGEST_NAP_MS, TOLERATED_MS } from './steady-clock.ts';

/**
 * The time of the machine as it is now, for a process that lives for months and keeps appointments with others:
 * schedules, and senders whose signatures name a time. It follows a clock that is set back. Then each callback is
 * called at once, because what its caller waits for may be due earlier. So a caller must look at the clock again.
 */
export function wallClock(): Clock {
  return {
    now: Date.now,
    at(time, callback) {
      let timer: NodeJS.Timeout;
      let last = { time: Date.now(), at: performance.now() };
      const look = () => {
        const next = { time: Date.now(), at: performance.now() };
        const isSetBack = next.time < last.time + (next.at - last.at) - TOLERATED_MS;
        last = next;
        const left = time - next.time;
        timer =
          left <= 0 || isSetBack
            ? setTimeout(callback, 0)
            : setTimeout(look, Math.min(left, LONGEST_NAP_MS));
      };
      look();
      return () => clearTimeout(timer);
    },
  };
}
