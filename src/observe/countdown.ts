import type { Clock, Observer } from '../ports.ts';
import type { Line } from './describe.ts';
import { duration, time } from './words.ts';

const MINUTE = 60_000;

/** While a run waits for a usage limit to end, says from time to time how long it still has to wait. */
export function countdown(clock: Clock, say: (line: Line) => void): Observer & { close(): void } {
  let cancel = () => {};
  const tick = (until: number) => {
    cancel();
    const left = until - clock.now();
    if (left <= 0) return;
    cancel = clock.at(clock.now() + pauseBefore(left), () => {
      const at = clock.now();
      if (at >= until) return;
      const text = `usage limit: ${duration(until - at)} left, until ${time(until)}`;
      say({ at, who: 'run', tone: 'warning', text });
      tick(until);
    });
  };
  return {
    event(event, _before, { limitedUntil }) {
      if (event.type === 'usage-limited' || event.type === 'run-resumed') {
        if (limitedUntil !== undefined) tick(limitedUntil);
      }
      if (event.type === 'usage-limit-lifted' || event.type === 'run-ended') cancel();
    },
    live: () => {},
    close: () => cancel(),
  };
}

/** Rarely while it is long, every minute at the end. */
function pauseBefore(left: number): number {
  return left > 30 * MINUTE ? 15 * MINUTE : MINUTE;
}
