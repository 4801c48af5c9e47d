import { expect, test } from 'vitest';
import { ATTACKS, playAttack } from './attacks.ts';

const LONG = { timeout: 120_000 };

test.runIf(process.platform === 'linux').each(ATTACKS)('$name: $expected', LONG, async (attack) => {
  const { expected, seen } = await playAttack(attack);
  expect(seen).toBe(expected);
});
