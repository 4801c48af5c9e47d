import { beforeAll, expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { type Ending, GAMES, SUITE_SEED, torture, undisturbedEnding } from './torture.ts';

/** Every kill needs a new start, which is slow on a busy machine. */
const LONG = { timeout: 240_000 };

let expected: Ending;
beforeAll(async () => {
  expected = await undisturbedEnding('joins');
});

test('the workflow has nested joins, a failure, stopped children and a deadline', () => {
  const events = JSON.stringify(expected.agents);
  expect(events.match(/"join-reported"/g)).toHaveLength(18);
  expect(events.match(/"agent-stopped"/g)).toHaveLength(9);
  const rows: readonly unknown[] = JSON.parse(expected.stdout);
  expect(rows).toMatchObject([
    { agent: 'main_race24', status: 'stopped', variables: { item: 'late', round: '2' } },
  ]);
});

const VICTIMS = isLong ? GAMES.joins.victims : (['raymond and its steps'] as const);

test.each(VICTIMS)(
  'every join reports once, with the same array: killing %s',
  LONG,
  async (victims) => {
    const kills = await torture({ game: 'joins', seed: SUITE_SEED, kills: 3, victims }, expected);
    expect(Object.keys(kills)).not.toEqual([]);
  },
);
