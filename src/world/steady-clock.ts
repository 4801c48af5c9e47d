import type { Clock } from '../ports.ts';

/**
 * The time of the machine, which never goes back while the process lives: if somebody sets the clock back,
 * time continues at the usual pace, so that deadlines neither move nor are missed. Clocks that go forward,
 * also during the sleep of a laptop, are followed.
 */
export function steadyClock(): Clock {
  let last = { time: Date.now(), at: performance.now() };
  const now = () => {
    const at = performance.now();
    const passed = Math.floor(at - last.at);
    const time = Date.now();
    // Clocks are adjusted by small amounts all the time, which is no reason to leave them.
    if (time < last.time + passed - TOLERATED_MS) last = { time: last.time + passed, at };
    else last = { time: Math.max(time, last.time), at };
    return last.time;
  };
  return {
    now,
    at(time, callback) {
      // A timer can wait at most 24 days, and after a laptop has slept, the clock must be checked again.
      let timer: NodeJS.Timeout;
      const look = () => {
        const left = time - now();
        timer =
          left <= 0 ? setTimeout(callback, 0) : setTimeout(look, Math.min(left, LONGEST_NAP_MS));
      };
      look();
      return () => clearTimeout(timer);
    },
  };
}

export const TOLERATED_MS = 1_000;
export const LONGEST_NAP_MS = 60_000;
