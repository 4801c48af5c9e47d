import { expect, test } from 'vitest';
import { ATTACKS, playAttack } from './attacks.ts';

const LONG = { timeout: 120_000 };

/** `npm run attack` also plays the slow ones. */
const QUICK = ATTACKS.filter(({ isSlow }) => !isSlow);

test.runIf(process.platform === 'linux').each(QUICK)('$name: $expected', LONG, async (attack) => {
  const { expected, seen } = await playAttack(attack);
  expect(seen).toBe(expected);
});
