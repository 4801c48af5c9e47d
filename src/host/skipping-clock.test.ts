import { expect, test } from 'vitest';
import type { Clock } from '../ports.ts';
import { skippingClock } from './skipping-clock.ts';

/** A base whose time never changes. A wait for a past time is over immediately. */
function standing(time: number): Clock & { waiting: () => number } {
  let waiting = 0;
  return {
    waiting: () => waiting,
    now: () => time,
    at(when, callback) {
      if (when <= time) {
        callback();
        return () => {};
      }
      waiting += 1;
      return () => {
        waiting -= 1;
      };
    },
  };
}

test('a skip lets the time pass, and what waits for it happens', () => {
  const base = standing(1000);
  const clock = skippingClock(base);
  const happened: string[] = [];
  clock.at(5000, () => happened.push('five'));
  clock.at(9000, () => happened.push('nine'));
  const cancel = clock.at(4000, () => happened.push('cancelled'));
  cancel();
  clock.skipTo(6000);
  expect(happened).toEqual(['five']);
  expect(clock.now()).toBe(6000);
  clock.skipTo(2000);
  expect(clock.now()).toBe(6000);
  expect(base.waiting()).toBe(1);
  clock.skipTo(9000);
  expect(happened).toEqual(['five', 'nine']);
});

test('a clock does not begin before its run was last changed', () => {
  expect(skippingClock(standing(1000), 7000).now()).toBe(7000);
  expect(skippingClock(standing(1000), 500).now()).toBe(1000);
});
