import { beforeAll, expect, test } from 'vitest';
import { type Ending, GAMES, torture, undisturbedEnding } from './torture.ts';

/** A new seed each day finds more than a fixed one. A failure names it. */
const SEED = Math.floor(Date.now() / 86_400_000);

/** Every kill needs a new start, which is slow on a busy machine. */
const LONG = { timeout: 240_000 };

let expected: Ending;
beforeAll(async () => {
  expected = await undisturbedEnding('joins');
});

test('the workflow has nested joins, a failure, stopped workers and a deadline', () => {
  const events = JSON.stringify(expected.agents);
  expect(events.match(/"join-reported"/g)).toHaveLength(18);
  expect(events.match(/"agent-stopped"/g)).toHaveLength(9);
  const rows: readonly unknown[] = JSON.parse(expected.stdout);
  expect(rows).toMatchObject([
    { agent: 'main_race24', status: 'stopped', variables: { item: 'late', round: '2' } },
  ]);
});

test.each(GAMES.joins.victims)(
  'every join reports once, with the same array: killing %s',
  LONG,
  async (victims) => {
    const kills = await torture({ game: 'joins', seed: SEED, kills: 5, victims }, expected);
    expect(Object.keys(kills)).not.toEqual([]);
  },
);
