import { expect, test } from 'vitest';
import { basisText, rangeText, restText, usualOf, usualText } from './forecast.ts';

const spread = (low: number, median: number, high: number) => ({ low, median, high });
const usual = { cost_usd: spread(0.1, 0.25, 0.5), time_ms: spread(1_000, 61_000, 90_000) };
const free = { cost_usd: spread(0, 0, 0), time_ms: spread(1_000, 2_000, 3_000) };
const state = { node: 'state:A.md', runs: 3, visits: spread(1, 1, 2), ...usual };
const mean = { visits: 1, cost_usd: 0.2, time_ms: 60_000 };
const forecast = { runs: 4, needed: 3, run: usual, states: [{ ...state, mean }], ways: [] };

test('the middle, and the range of half of the runs', () => {
  expect(usualText(usual)).toBe('$0.2500, 1 min 1 s');
  expect(rangeText(usual, 4)).toBe(
    'Half of 4 completed runs used $0.1000 to $0.5000 and 1.0 s to 1 min 30 s.',
  );
});

test('scripts cost nothing, so no cost is named', () => {
  expect(usualText(free)).toBe('2.0 s');
  expect(rangeText(free, 3)).toBe('Half of 3 completed runs used 1.0 s to 3.0 s.');
});

test('the rest is named only if it is known', () => {
  expect(restText({ kind: 'known', runs: 3, ...usual })).toBe('$0.2500, 1 min 1 s');
  expect(restText({ kind: 'unknown', runs: 1, needed: 3 })).toBeUndefined();
  expect(restText(null)).toBeUndefined();
});

test('too few runs give no figures, and say how many are missing', () => {
  const few = { ...forecast, runs: 1, run: null };
  expect(usualOf(few, 'A.md')).toBeUndefined();
  expect(usualOf(forecast, 'A.md')?.runs).toBe(3);
  expect(usualOf(forecast, 'B.md')).toBeUndefined();
  expect(basisText(few)).toContain(
    'needs 3 completed runs of this workflow with the same files: there is 1.',
  );
  expect(basisText({ ...few, runs: 0 })).toContain('there is none yet');
  expect(basisText(forecast)).toContain('4 completed runs');
});
