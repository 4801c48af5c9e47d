import { expect, test } from 'vitest';
import { lastLimit, limitOf, limitOn, NO_LIMITS, openLimits, overAt, withLimit } from './limits.ts';

const both = withLimit(withLimit(NO_LIMITS, 'codex', 50), 'claude', 90);

test('a limit concerns its own executor, and one without a name all of them', () => {
  expect(limitOf(both, 'codex')).toBe(50);
  expect(limitOf(both, 'gemini')).toBeUndefined();
  const older = withLimit(both, undefined, 70);
  expect(['codex', 'claude', 'gemini'].map((name) => limitOf(older, name))).toEqual([70, 90, 70]);
});

test('a later report does not shorten a limit, and each one is over for itself', () => {
  expect(limitOf(withLimit(both, 'codex', 20), 'codex')).toBe(50);
  expect(overAt(both, 50)).toEqual(['codex']);
  expect(overAt(withLimit(NO_LIMITS, undefined, 5), 5)).toEqual([undefined]);
  expect(lastLimit(both)).toBe(90);
});

test('people see whose limit it is, and which agents seem to wait for it', () => {
  expect(openLimits(both, 60)).toEqual([{ text: 'usage limit of claude', until: 90 }]);
  expect(openLimits(both, 0).map(({ until }) => until)).toEqual([50, 90]);
  const of = (executor: string) => ({ session: { kind: 'open', id: 's', executor } }) as const;
  expect(limitOn(both, of('codex'))).toBe(50);
  expect(limitOn(both, of('gemini'))).toBeUndefined();
  expect(limitOn(both, { session: { kind: 'none' } })).toBe(90);
});
