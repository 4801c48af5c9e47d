import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { wallClock } from './wall-clock.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;

test('a callback comes at its time, also after a clock was set forward', async () => {
  const clock = wallClock();
  const seen: number[] = [];
  const time = clock.now() + 5 * HOUR;
  clock.at(time, () => seen.push(clock.now()));
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(seen).toEqual([]);
  vi.setSystemTime(time + HOUR);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(seen).toHaveLength(1);
});

test('a clock that is set back is followed, and whoever waits is called to look again', async () => {
  const clock = wallClock();
  const seen: number[] = [];
  clock.at(clock.now() + 5 * HOUR, () => seen.push(clock.now()));
  const back = clock.now() - 365 * 24 * HOUR;
  vi.setSystemTime(back);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(seen).toHaveLength(1);
  expect((seen[0] ?? 0) - back).toBeLessThan(62_000);
  vi.setSystemTime(back - HOUR);
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(seen).toHaveLength(1);
});

test('small corrections of a clock call nobody', async () => {
  const clock = wallClock();
  let calls = 0;
  const cancel = clock.at(clock.now() + HOUR, () => calls++);
  for (let minute = 0; minute < 30; minute++) {
    vi.setSystemTime(Date.now() - 500);
    await vi.advanceTimersByTimeAsync(60_000);
  }
  expect(calls).toBe(0);
  cancel();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(calls).toBe(0);
});
