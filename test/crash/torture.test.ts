import { beforeAll, expect, test } from 'vitest';
import { inSuite, isLong } from '../long.ts';
import type { Victims } from './harm.ts';
import { type Ending, SUITE_SEED, torture, undisturbedEnding } from './torture.ts';

/** Every kill needs a new start, which is slow on a busy machine. */
const LONG = { timeout: 240_000 };

let expected: Ending;
beforeAll(async () => {
  expected = await undisturbedEnding();
});

test('the torture workflow has many agents, steps and deadlines', () => {
  expect(Object.keys(expected.agents)).toHaveLength(9);
  expect(Object.values(expected.agents).flat().length).toBeGreaterThan(60);
  const timeouts = Object.values(expected.agents).flat();
  expect(timeouts.filter((event) => JSON.stringify(event).includes('timed-out'))).toHaveLength(4);
  expect(expected.stdout).toBe('main has deep <goto>NOWHERE</goto> main\n');
});

test.each(isLong ? [0, 1, 2, 3] : [0])(
  'killed with -9 repeatedly, round %d',
  LONG,
  async (round) => {
    const kills = await torture(
      { seed: SUITE_SEED + round, kills: isLong ? 10 : 6, victims: 'raymond' },
      expected,
    );
    expect(Object.keys(kills)).not.toEqual([]);
  },
);

const harms = inSuite<readonly [string, Victims]>(
  [
    ['killed together with its steps', 'raymond and its steps'],
    ['its launchers are killed', 'launchers'],
    ['the disk is full for the records of wrappers', 'records'],
  ],
  [
    ['killed together with its launchers', 'raymond and its launchers'],
    ['the wrappers of its steps are killed', 'wrappers'],
  ],
);

test.each(harms)('%s', LONG, async (_, victims) => {
  const kills = await torture({ seed: SUITE_SEED, kills: isLong ? 6 : 4, victims }, expected);
  expect(Object.keys(kills)).not.toEqual([]);
});
