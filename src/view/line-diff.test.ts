import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

const drawn = (before: string, after: string) =>
  lineDiff(before, after).map(
    ({ kind, text }) => `${{ same: ' ', removed: '-', added: '+', gap: '…' }[kind]}${text}`,
  );

test.each<[string, string, string, string[]]>([
  ['a changed line', 'a\nb\nc\n', 'a\nx\nc\n', [' a', '-b', '+x', ' c']],
  ['a new file', '', 'a\nb\n', ['+a', '+b']],
  ['a removed end', 'a\nb', 'a', [' a', '-b']],
  ['a moved line', 'a\nb\nc', 'b\nc\na', ['-a', ' b', ' c', '+a']],
  ['no change', 'a\nb', 'a\nb', ['…']],
  ['far lines', '1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n6\nx', ['…', ' 4', ' 5', ' 6', '-7', '+x']],
])('%s', (_, before, after, expected) => {
  expect(drawn(before, after)).toEqual(expected);
});

test('does not compare every pair of lines of two large texts', () => {
  const text = (prefix: string) => Array.from({ length: 20_000 }, (_, i) => prefix + i).join('\n');
  expect(lineDiff(text('a'), text('b'))).toHaveLength(40_000);
});
