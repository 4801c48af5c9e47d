import { describe, expect, test } from 'vitest';
import { isFound, patternProblem } from './pattern.ts';

test.each([
  ['unable to', 'I am unable to', true],
  ['unable to', 'I am UNABLE TO', false],
  ['(?i)unable to', 'I am UNABLE TO', true],
  ['(?iu)straße', 'die STRAßE', true],
  ['(?u)a', 'a', true],
  ['^b', 'a\nb', false],
  ['(?m)^b$', 'a\nb\nc', true],
  ['a.b', 'a\nb', false],
  ['(?s)a.b', 'a\nb', true],
  ['\\u00e9|\\u{1F600}', '😀', true],
  ['(?<word>\\w+)\\/x', 'ab/x', true],
  ['[^]x', '\nx', true],
  ['\\\\k', '\\k', true],
  ['', '', true],
])('%j in %j: %s', (pattern, text, found) => {
  expect(patternProblem(pattern)).toBeUndefined();
  expect(isFound(pattern, text)).toBe(found);
});

test.each([
  ['(?=a)b', 'has a lookahead (?=…), which'],
  ['(?i)x(?!a)b', 'has a negative lookahead (?!…)'],
  ['(?<=a)b', 'has a lookbehind (?<=…)'],
  ['(?<!a)b', 'has a negative lookbehind (?<!…)'],
  ['(?>a)b', 'has an atomic group'],
  ['(a)\\1', 'has a backreference like \\1'],
  ['(?<n>a)\\k<n>', 'has a backreference \\k<…>'],
  ['unable (to', 'cannot be read: missing closing ) at unable (to'],
  ['[z-a]', 'cannot be read: invalid character class range at z-a'],
  ['*', 'cannot be read: missing argument to repetition operator at *'],
  ['(?x)a', 'cannot be read'],
  ['a{1001}', 'cannot be read: invalid repeat count'],
  ['(a{100}){100}', 'cannot be read: invalid repeat count'],
  ['(?:a{500}|b{500}|c{500})', 'is too large'],
  ['a'.repeat(1_001), 'is too large'],
  ['('.repeat(1_000), 'cannot be read'],
])('%s: %s', (pattern, problem) => {
  expect(patternProblem(pattern)?.message).toContain(problem);
});

// With backtracking, none of these would finish.
describe('time is linear in the text', () => {
  const letters = 'a'.repeat(100_000);
  test.each([
    ['^(\\w+\\s?)*$', `${letters}!`],
    ['(a+)+$', `${letters}!`],
    ['(a|aa)+$', `${letters}!`],
    ['^(a|a?)+$', `${letters}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', letters],
    ['(.*)(.*)(.*)(.*)(.*)(.*)[cd]', letters],
    ['(?:a?){300}a{300}[cd]', letters],
    ['\\s+$', `${' '.repeat(100_000)}x`],
  ])('%s', (pattern, text) => {
    expect(patternProblem(pattern)).toBeUndefined();
    expect(isFound(pattern, text)).toBe(false);
  });
});
