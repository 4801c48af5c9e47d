import { expect, test } from 'vitest';
import { pathDifference } from './path-difference.ts';

test.each([
  [
    'START PLAN DONE',
    'START DONE',
    'expected  START PLAN DONE\ngot       START DONE -\n                ^',
  ],
  ['A B', 'A B C', 'expected  A B -\ngot       A B C\n              ^'],
  ['A LONG', 'A B', 'expected  A LONG\ngot       A B\n            ^'],
  ['', 'A', 'expected  -\ngot       A\n          ^'],
])('%s against %s', (expected, got, shown) => {
  const states = (text: string) => text.split(' ').filter((state) => state !== '');
  expect(pathDifference(states(expected), states(got))).toBe(shown);
});

test('long paths are compared in reasonable time', () => {
  const long = Array.from({ length: 20_000 }, (_, i) => `S${i}`);
  const shown = pathDifference([...long, 'X'], [...long, 'Y', ...long]);
  expect(shown).toContain('S19999 X -');
});
