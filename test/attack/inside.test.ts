// Commands that want out of their sandbox: of bubblewrap alone, of the one with a network, and of that of an agent.
import { expect, test } from 'vitest';
import { inSuite, isLong } from '../long.ts';
import { suiteAges } from '../real-agent/claude-sandbox.ts';
import { CONFINED, CONFINED_USERS, playInside, playUnconfined } from './inside-plays.ts';
import { playKernelAlone } from './kernel-alone.ts';

const LONG = { timeout: 120_000 };

const bad = (rows: readonly { expected: string; seen: string }[]) =>
  rows.filter(({ expected, seen }) => seen !== expected);

test.each(CONFINED)('nothing gets out: %s', LONG, async (who) => {
  expect(bad(await playInside(who))).toEqual([]);
});

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot).each(inSuite(CONFINED_USERS.slice(0, 1), CONFINED_USERS.slice(1)))(
  'nothing gets out: %s',
  LONG,
  async (who) => {
    expect(bad(await playInside(who))).toEqual([]);
  },
);

if (isLong)
  test('nothing gets out: a command of the older agent', LONG, async () => {
    expect(bad(await playInside('a command of the agent', 'older'))).toEqual([]);
  });

test.runIf(isRoot)('where nothing confines them, they get out', LONG, async () => {
  expect(bad(await playUnconfined())).toEqual([]);
});

test.each(suiteAges)('the kernel alone stops the %s agent without rules', LONG, async (age) => {
  expect(bad(await playKernelAlone(age, []))).toEqual([]);
});

test('without rights, nothing stops it', LONG, async () => {
  const rows = await playKernelAlone('newer', ['--no-rights']);
  expect(rows.filter(({ seen }) => seen !== 'escaped')).toEqual([]);
});
