import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { steadyClock } from './steady-clock.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;

test('a deadline does not move when the clock is set back', async () => {
  const clock = steadyClock();
  const seen: number[] = [];
  const deadline = clock.now() + 2 * HOUR;
  clock.at(deadline, () => seen.push(clock.now()));
  await vi.advanceTimersByTimeAsync(HOUR);
  vi.setSystemTime(Date.now() - 5 * HOUR);
  await vi.advanceTimersByTimeAsync(HOUR - 1_000);
  expect(seen).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toBeGreaterThanOrEqual(deadline);
});

test('time never goes back, and follows a clock that is set forward', async () => {
  const clock = steadyClock();
  let last = clock.now();
  for (const change of [-HOUR, 10, -500, HOUR, -20, -2 * HOUR, 3 * HOUR]) {
    vi.setSystemTime(Date.now() + change);
    await vi.advanceTimersByTimeAsync(100);
    expect(clock.now()).toBeGreaterThanOrEqual(last);
    last = clock.now();
  }
  expect(clock.now()).toBe(Date.now());
});

test('a clock that was set back is used again once it has caught up', async () => {
  const clock = steadyClock();
  vi.setSystemTime(Date.now() - HOUR);
  await vi.advanceTimersByTimeAsync(1_000);
  const ahead = clock.now();
  expect(ahead - Date.now()).toBeGreaterThan(HOUR - 2_000);
  vi.setSystemTime(ahead + 5);
  expect(clock.now()).toBe(Date.now());
});
