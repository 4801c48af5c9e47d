import { expect, test } from 'vitest';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import { countdown } from './countdown.ts';

const MINUTE = 60_000;

/** A clock on which nothing happens until it is moved. */
function handClock() {
  let now = 0;
  let pending: { time: number; callback: () => void } | undefined;
  return {
    now: () => now,
    at: (time: number, callback: () => void) => {
      pending = { time, callback };
      return () => {
        pending = undefined;
      };
    },
    /** Goes on to the next callback; false when there is none. */
    step(): boolean {
      if (!pending) return false;
      const { time, callback } = pending;
      pending = undefined;
      now = time;
      callback();
      return true;
    },
  };
}

test('counts down a usage limit: rarely at first, every minute at the end, and then no more', () => {
  const clock = handClock();
  const said: string[] = [];
  const observer = countdown(clock, (line) => said.push(line.text.replace(/, until.*/, '')));
  const limited: RunEvent = { type: 'usage-limited', at: 0, agent: 'main', until: 47 * MINUTE };
  observer.event(limited, newRun, { ...newRun, limitedUntil: 47 * MINUTE });
  let steps = 0;
  while (clock.step() && steps < 100) steps++;
  expect(said.slice(0, 4)).toEqual([
    'usage limit: 32 min 0 s left',
    'usage limit: 17 min 0 s left',
    'usage limit: 16 min 0 s left',
    'usage limit: 15 min 0 s left',
  ]);
  expect(said.at(-1)).toBe('usage limit: 1 min 0 s left');
});

test('says nothing more when the limit is lifted', () => {
  const clock = handClock();
  const said: string[] = [];
  const observer = countdown(clock, (line) => said.push(line.text));
  const limited: RunEvent = { type: 'usage-limited', at: 0, agent: 'main', until: MINUTE };
  observer.event(limited, newRun, { ...newRun, limitedUntil: MINUTE });
  observer.event({ type: 'usage-limit-lifted', at: 1 }, newRun, newRun);
  expect(clock.step()).toBe(false);
  expect(said).toEqual([]);
});
