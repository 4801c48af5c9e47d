import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readUsageLimit } from './usage-limit.ts';

// Sunday, 15 November 2026, 22:13 UTC; 17:13 in New York, 23:13 in Berlin.
const now = Date.parse('2026-11-15T22:13:00Z');

describe('a usage limit with a reset time', () => {
  const rows: [string, string][] = [
    ["You've hit your session limit · resets 8pm (America/New_York)", '2026-11-16T01:00Z'],
    ["You've hit your limit · resets 8:15pm (America/New_York)", '2026-11-16T01:15Z'],
    ["You've hit your limit · resets 12:03am (UTC)", '2026-11-16T00:03Z'],
    ["You've hit your limit · resets 12pm (UTC)", '2026-11-16T12:00Z'],
    ["You've hit your limit · resets Nov 18, 5:13pm (America/New_York)", '2026-11-18T22:13Z'],
    ["You've hit your limit · resets Nov 18 at 9am (Europe/Berlin)", '2026-11-18T08:00Z'],
    ["You've hit your weekly limit · resets Mon 9:30am (Europe/Berlin)", '2026-11-16T08:30Z'],
    ["You've hit your weekly limit · resets Monday at 9:30 AM (UTC)", '2026-11-16T09:30Z'],
    ["You've hit your weekly limit · resets Sun 9am (UTC)", '2026-11-22T09:00Z'],
    ["You've hit your weekly limit · resets Sun 11pm (UTC)", '2026-11-15T23:00Z'],
    ["You've hit your Opus limit · resets Jan 2, 7am (UTC)", '2027-01-02T07:00Z'],
    ["You've hit your Opus limit · resets Jan 2, 2028, 7am (UTC)", '2028-01-02T07:00Z'],
    ["You've reached your Fable 5 limit. It resets tomorrow at 7am (UTC)", '2026-11-16T07:00Z'],
    ['5-hour limit reached ∙ resets 3:45 PM', '2026-11-16T15:45Z'],
    ['Weekly limit reached ∙ resets 15:45', '2026-11-16T15:45Z'],
    ['Session limit reached · resets at 11 p.m.', '2026-11-15T23:00Z'],
    [
      'Claude usage limit reached. Your limit will reset at 3pm (Asia/Kolkata).',
      '2026-11-16T09:30Z',
    ],
    ['spend limit reached · resets Dec 8 · request an increase', '2026-12-08T00:00Z'],
    ["You're out of extra usage · resets 11:30pm (UTC)", '2026-11-15T23:30Z'],
    [
      "You've hit your monthly spend limit · your weekly limit resets Nov 18, 9am (UTC)",
      '2026-11-18T09:00Z',
    ],
    [
      'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
      '2026-12-01T00:00Z',
    ],
    ["You've hit your limit · resets 2026-11-18T09:00:00Z", '2026-11-18T09:00Z'],
    ["You've hit your session limit · resets in 2 hours 5 minutes", '2026-11-16T00:18Z'],
    ["You've hit your session limit · resets in 2h 5m", '2026-11-16T00:18Z'],
    [
      "You've hit your weekly limit. Try again in 1 day, 2 hours and 30 seconds.",
      '2026-11-17T00:13:30Z',
    ],
    ['Claude AI usage limit reached|1794787406', new Date(1794787406000).toISOString()],
    ['Claude AI usage limit reached|1794787406000', new Date(1794787406000).toISOString()],
  ];
  it.each(rows)('%s', (text, expected) => {
    const { resetsAt } = readUsageLimit(text, now, 'UTC') ?? {};
    expect(resetsAt === undefined ? undefined : new Date(resetsAt).toISOString()).toBe(
      new Date(expected).toISOString(),
    );
  });
});

describe('the time of a reset', () => {
  const limit = (text: string, at: string, zone = 'UTC') =>
    readUsageLimit(`You've hit your limit · resets ${text}`, Date.parse(at), zone)?.resetsAt;

  it.each([
    ['a minute ago means today', '8pm', '2026-11-15T20:01Z', '2026-11-15T20:00Z'],
    ['an hour ago means tomorrow', '8pm', '2026-11-15T21:00Z', '2026-11-16T20:00Z'],
    ['the end of a month', '8am', '2026-11-30T21:00Z', '2026-12-01T08:00Z'],
    ['the end of a year', 'Fri 8am', '2026-12-31T21:00Z', '2027-01-01T08:00Z'],
    ['yesterday by date', 'Nov 14, 8am', '2026-11-15T21:00Z', '2026-11-14T08:00Z'],
    ['29 February', 'Feb 29, 8am', '2028-02-28T21:00Z', '2028-02-29T08:00Z'],
  ])('%s', (_, text, at, expected) => {
    expect(limit(text, at)).toBe(Date.parse(expected));
  });

  it.each([
    [
      'tomorrow, when clocks go back tonight',
      '8am (America/New_York)',
      '2026-11-01T01:00Z',
      '2026-11-01T13:00Z',
    ],
    [
      'tomorrow, when clocks go forward tonight',
      '8am (Europe/Berlin)',
      '2026-03-28T22:00Z',
      '2026-03-29T06:00Z',
    ],
    ['an hour that is skipped', '2:30am (Europe/Berlin)', '2026-03-29T00:00Z', '2026-03-29T01:30Z'],
    ['before the change', '1:30am (Europe/Berlin)', '2026-03-28T23:00Z', '2026-03-29T00:30Z'],
    ['a day ahead of UTC', '1am (Pacific/Auckland)', '2026-11-15T10:30Z', '2026-11-15T12:00Z'],
    [
      'an unknown zone means the local zone',
      '8pm (Nowhere/Land)',
      '2026-11-15T10:00Z',
      '2026-11-15T20:00Z',
    ],
  ])('%s', (_, text, at, expected) => {
    expect(limit(text, at)).toBe(Date.parse(expected));
  });

  it('uses the local zone when the text names none', () => {
    expect(limit('8pm', '2026-11-15T10:00Z', 'America/New_York')).toBe(
      Date.parse('2026-11-16T01:00Z'),
    );
  });
});

it.each([
  "You've hit your usage limit.",
  "You've hit your org's monthly usage limit",
  'Claude AI usage limit reached',
  "You've hit your limit · resets 25:99",
  "You've hit your limit · resets 13pm",
  "You've hit your limit · resets soon",
])('a usage limit without a usable time: %s', (text) => {
  expect(readUsageLimit(text, now, 'UTC')).toEqual({});
});

it.each([
  '',
  "API Error: Request rejected (429) · This request would exceed your account's rate limit.",
  'API Error: Server is temporarily limiting requests (not your usage limit)',
  'Prompt is too long · the request is ~250000 tokens (limit 200000)',
  'Context limit reached · /compact or /clear to continue',
  'Credit balance is too low',
  'Concurrent subagent limit reached. You can run 3.',
  'Reached maximum budget ($0.1)',
])('no usage limit: %s', (text) => {
  expect(readUsageLimit(text, now, 'UTC')).toBeUndefined();
});

it('finds the time that Claude Code writes for any reset within a day', () => {
  const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe'];
  const minute = 60_000;
  fc.assert(
    fc.property(
      fc.integer({ min: 29_000_000, max: 31_000_000 }),
      fc.integer({ min: 1, max: 20 * 60 }),
      fc.constantFrom(...zones),
      (start, ahead, timeZone) => {
        const resets = (start + ahead) * minute;
        const shown = new Intl.DateTimeFormat('en-US', {
          timeZone,
          hour: 'numeric',
          minute: '2-digit',
        }).format(resets);
        const text = `You've hit your session limit · resets ${shown} (${timeZone})`;
        const found = readUsageLimit(text, start * minute)?.resetsAt ?? 0;
        // When clocks show an hour twice, the result can be wrong by one hour.
        expect(Math.abs(found - resets)).toBeLessThanOrEqual(60 * minute);
      },
    ),
  );
});

it('searches a long text in linear time', () => {
  expect(readUsageLimit('out of extra usage '.repeat(300_000), 0)).toBeUndefined();
});
