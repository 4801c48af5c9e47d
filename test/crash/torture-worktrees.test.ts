import { beforeAll, expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { type Ending, GAMES, SUITE_SEED, torture, undisturbedEnding } from './torture.ts';

/** Every kill needs a new start, which is slow on a busy machine. */
const LONG = { timeout: 240_000 };

let expected: Ending;
beforeAll(async () => {
  expected = await undisturbedEnding('worktrees');
});

test('the workflow has nested joins, and worktrees with commits, changes, failures and no work', () => {
  const joins = JSON.stringify(expected.agents).match(/"join-reported"/g);
  expect(joins).toHaveLength(4);
  const rows: readonly Record<string, unknown>[] = JSON.parse(expected.stdout);
  const work = rows.map(({ status, branch, commits, dirty }) => [status, branch, commits, dirty]);
  const branch = (name: string) => `raymond/torture-00000001/${name}-2`;
  expect(work).toEqual([
    ['ended', branch('commit'), 1, false],
    ['ended', branch('two'), 2, false],
    ['ended', 'own/2', 1, false],
    ['ended', null, 0, false],
    ['ended', branch('dirty'), 0, true],
    ['failed', branch('fail'), 0, true],
    ['ended', branch('nest'), 2, false],
  ]);
  // No worktree and no branch of the children without work, and of those that the join stopped.
  expect(JSON.stringify(expected.left)).not.toMatch(/(clean|empty|slow)-/);
});

const VICTIMS = isLong ? GAMES.worktrees.victims : (['raymond and git'] as const);

test.each(VICTIMS)(
  'every join reports once, and no worktree is lost or left: killing %s',
  LONG,
  async (victims) => {
    const kills = await torture(
      { game: 'worktrees', seed: SUITE_SEED, kills: 3, victims },
      expected,
    );
    expect(Object.keys(kills)).not.toEqual([]);
  },
);
