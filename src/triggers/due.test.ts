import { expect, test } from 'vitest';
import type { Missed, ScheduleTrigger } from '../model/trigger.ts';
import { dueTimes, nextTime } from './due.ts';

const HOUR = 3_600_000;

function at(schedule: string, timezone?: string, missed: Missed = 'all'): ScheduleTrigger {
  const common = { kind: 'schedule', schedule, missed, overlap: 'skip' } as const;
  return { ...common, ...(timezone !== undefined && { timezone }) };
}

const times = (trigger: ScheduleTrigger, from: string, to: string) =>
  dueTimes(trigger, Date.parse(from), Date.parse(to)).times.map((time) =>
    new Date(time).toISOString().slice(0, 16),
  );

test.each<[what: string, ScheduleTrigger, from: string, to: string, due: readonly string[]]>([
  [
    'a time in the hour that does not exist comes when the clocks have gone forward',
    at('30 2 * * *', 'Europe/Berlin'),
    ...(['2026-03-28T12:00Z', '2026-03-30T12:00Z'] as const),
    ['2026-03-29T01:00', '2026-03-30T00:30'],
  ],
  [
    'a time in the hour that exists twice comes once',
    at('30 2 * * *', 'Europe/Berlin'),
    ...(['2026-10-24T12:00Z', '2026-10-26T12:00Z'] as const),
    ['2026-10-25T00:30', '2026-10-26T01:30'],
  ],
  [
    'every hour comes in both of them',
    at('0 * * * *', 'Europe/Berlin'),
    ...(['2026-10-24T23:30Z', '2026-10-25T02:30Z'] as const),
    ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
  ],
  [
    'every hour comes once an hour when the clocks go forward',
    at('0 * * * *', 'Europe/Berlin'),
    ...(['2026-03-29T00:30Z', '2026-03-29T02:30Z'] as const),
    ['2026-03-29T01:00', '2026-03-29T02:00'],
  ],
  [
    'the 29th of February comes in leap years',
    at('0 0 29 2 *', 'UTC'),
    ...(['2023-01-01T00:00Z', '2033-01-01T00:00Z'] as const),
    ['2024-02-29T00:00', '2028-02-29T00:00', '2032-02-29T00:00'],
  ],
  [
    'a day or a weekday',
    at('0 0 13 * 5', 'UTC'),
    ...(['2026-11-10T00:00Z', '2026-11-20T12:00Z'] as const),
    ['2026-11-13T00:00', '2026-11-20T00:00'],
  ],
  [
    'half an hour of a time zone counts',
    at('0 9 * * *', 'Asia/Kolkata'),
    ...(['2026-01-01T00:00Z', '2026-01-01T23:00Z'] as const),
    ['2026-01-01T03:30'],
  ],
  [
    'a clock that was set back asks for nothing',
    at('0 * * * *', 'UTC'),
    ...(['2026-01-01T12:00Z', '2026-01-01T08:00Z'] as const),
    [],
  ],
])('%s', (_what, trigger, from, to, due) => {
  expect(times(trigger, from, to)).toEqual(due);
});

const NOON = Date.parse('2026-05-01T12:00:00Z');

test.each<[missed: Missed, lateMs: number, due: number, skipped: number]>([
  ['once', 0, 1, 9],
  ['once', 10 * 60_000, 1, 9],
  ['skip', 0, 1, 9],
  ['skip', 10 * 60_000, 0, 10],
  ['all', 0, 10, 0],
])('missed: %s after ten hours of sleep, %d ms late', (missed, lateMs, due, skipped) => {
  const found = dueTimes(at('0 * * * *', 'UTC', missed), NOON - 10 * HOUR, NOON + lateMs);
  expect(found.times).toHaveLength(due);
  expect(found.skipped?.times ?? 0).toBe(skipped);
  if (due > 0) expect(found.times.at(-1)).toBe(NOON);
});

test('a clock that is set forward by years is bounded, and the newest time counts', () => {
  const far = NOON + 20 * 366 * 24 * HOUR;
  for (const missed of ['once', 'skip', 'all'] as const) {
    const { times, skipped } = dueTimes(at('* * * * *', 'UTC', missed), NOON, far);
    expect(times.at(-1)).toBe(far);
    expect(times.length).toBeLessThanOrEqual(100);
    expect(skipped?.times ?? 0).toBeLessThanOrEqual(1_001);
  }
});

test('a year of a nightly schedule has every night once, in spite of daylight saving', () => {
  const trigger = at('30 2 * * *', 'Europe/Berlin', 'once');
  const nights = new Set<string>();
  let last = Date.parse('2026-01-01T00:00:00Z');
  const end = Date.parse('2027-01-01T00:00:00Z');
  for (let now = last; now < end; now = nextTime(trigger, now) ?? end) {
    const { times, skipped } = dueTimes(trigger, last, now);
    expect(skipped).toBeUndefined();
    for (const time of times) {
      nights.add(new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin' }).format(time));
      last = time;
    }
  }
  expect(nights.size).toBe(365);
});
