import type { Clock } from '../../src/ports.ts';

/** A clock that moves only when the test moves it. */
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
  /** Like the machine after a sleep: no callback has run yet. */
  const sleepUntil = (to: number) => {
    time = to;
  };
  return { clock, calls, moveTo, sleepUntil };
}
