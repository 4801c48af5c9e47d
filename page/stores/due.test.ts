import { expect, test } from 'vitest';
import { dueDays } from './due.ts';

const NOON = new Date(2026, 4, 4, 12).getTime();
const HOUR = 3_600_000;
const at = (hours: number) => new Date(NOON + hours * HOUR).toISOString();

test('the next times of all schedules are sorted into days', () => {
  const days = dueDays(
    [
      { workflow: 'b', name: 'schedule x', next: [at(1), at(25), at(49)] },
      { workflow: 'a', name: 'schedule y', next: [at(1), at(-1)] },
      { workflow: 'c', name: 'webhook z', next: [] },
    ],
    NOON,
  );
  expect(days.map(({ name, times }) => `${name}: ${times.map((one) => one.workflow)}`)).toEqual([
    'Today: a,b',
    'Tomorrow: b',
    'Wed, May 6: b',
  ]);
});

test('a week and a dozen times a day are enough', () => {
  const next = Array.from({ length: 20 * 24 }, (_, n) => at(n / 2));
  const days = dueDays([{ workflow: 'a', name: 'schedule x', next }], NOON);
  expect(days.map(({ times }) => times.length)).toEqual([12, 12, 12, 12, 12, 12, 12]);
});
