import { beforeAll, expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { type Ending, GAMES, SUITE_SEED, torture, undisturbedEnding } from './torture.ts';

/** Every kill needs a new start, which is slow on a busy machine. */
const LONG = { timeout: 240_000 };

let expected: Ending;
beforeAll(async () => {
  expected = await undisturbedEnding('prompts');
}, 120_000);

test('the workflow hands over in the main agent, in a callee and in children, and asks a person', () => {
  const events = JSON.stringify(expected.agents);
  expect(events.match(/"tag":"compact"/g)).toHaveLength(5);
  expect(expected.notes.filter((note) => note.includes('from a handover'))).toHaveLength(5);
  expect(expected.notes.filter((note) => note.includes('allowed'))).toHaveLength(7);
  expect(expected.stdout).toBe('all done\n');
});

const VICTIMS = isLong ? GAMES.prompts.victims : (['raymond'] as const);

test.each(VICTIMS)(
  'each prompt is asked, handed over and permitted once: killing %s',
  LONG,
  async (victims) => {
    const kills = await torture({ game: 'prompts', seed: SUITE_SEED, kills: 3, victims }, expected);
    expect(Object.keys(kills)).not.toEqual([]);
  },
);
