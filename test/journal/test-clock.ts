import type { Clock } from '../../src/ports.ts';

/** A clock that stands still until it is moved. */
export function testClock(start = 0) {
  let time = start;
  const calls = new Set<{ readonly at: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => time,
    at(at, callback) {
      const call = { at, callback };
      calls.add(call);
      return () => calls.delete(call);
    },
  };
  const moveTo = (to: number) => {
    time = to;
    for (const call of [...calls]) {
      if (call.at > to || !calls.delete(call)) continue;
      call.callback();
    }
  };
  /** As after a sleep of the whole machine: nothing has been called yet. */
  const sleepUntil = (to: number) => {
    time = to;
  };
  return { clock, calls, moveTo, sleepUntil };
}
