import { expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { chaos, WEATHERS } from './chaos.ts';

const SHORT = { runs: 4, workers: 2, disturbances: 3, seed: 11, leaseS: 4 };
const LONG = { runs: 40, workers: 3, disturbances: 60, seed: 12, leaseS: 8 };

test('disturbed runs end like undisturbed ones, and no finished step is repeated', async () => {
  const wanted = isLong ? LONG : SHORT;
  const played = await chaos(wanted);
  if (!played) return expect.fail('It was not played.');
  const { kills, pauses, databaseRestarts, databaseCrashes, exhaustions, ...figures } = played;
  expect(figures).toMatchObject({ runs: wanted.runs });
  const disturbances = kills + pauses + databaseRestarts + databaseCrashes + exhaustions;
  expect(disturbances).toBe(wanted.disturbances);
}, 900_000);

const SHORT_WEATHER = { runs: 2, workers: 2, disturbances: 4, seed: 21, leaseS: 3 };
const LONG_WEATHER = { runs: 20, workers: 3, disturbances: 30, seed: 22, leaseS: 8 };

for (const weather of isLong ? WEATHERS : (['mixed'] as const))
  test(`bad weather ends no run, and repeats no finished step: ${weather}`, async () => {
    const wanted = { ...(isLong ? LONG_WEATHER : SHORT_WEATHER), weather };
    // Undefined if this machine cannot play it.
    const figures = await chaos(wanted);
    if (figures) expect(figures).toMatchObject({ runs: wanted.runs, weather: wanted.disturbances });
  }, 900_000);
