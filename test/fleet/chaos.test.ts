import { expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { chaos } from './chaos.ts';

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
