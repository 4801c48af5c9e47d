// The invariants at the heads of files are numbered without gaps. The index of the architecture is
// generated from them.
import { expect, test } from 'vitest';
import { filesWithLateInvariants, headOf, invariantsIn, keptInvariants } from './invariants.ts';

test('the invariants are numbered without a gap', () => {
  const numbers = keptInvariants().map(({ number }) => number);
  expect(numbers.length).toBeGreaterThan(20);
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
});

test('no invariant is named anywhere else in a file', () => {
  expect(filesWithLateInvariants()).toEqual([]);
});

test.each([
  ['/** INV-7: One. Two. */\nimport a', [{ number: 7, statement: 'One. Two.' }]],
  [
    '/**\n * INV-7: One\n * two.\n *\n * Three.\n */\nexport a',
    [{ number: 7, statement: 'One two.' }],
  ],
  ['// INV-7: One\n// two.\n//\n// Three.\nimport a', [{ number: 7, statement: 'One two.' }]],
  ['import a\n/** INV-7: One. */', []],
])('%j', (text, expected) => {
  expect(invariantsIn(headOf(text))).toEqual(expected);
});
