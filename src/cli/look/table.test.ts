import { expect, test } from 'vitest';
import { type Column, table } from './table.ts';

const COLUMNS: readonly (string | Column)[] = [
  'NAME',
  { head: 'COUNT', isNumber: true },
  { head: 'TEXT', least: 6 },
];

test('columns are aligned, and numbers to the right', () => {
  expect(
    table(COLUMNS, [
      ['a', '1', 'one'],
      ['long', '1000', 'two'],
    ]),
  ).toEqual(['NAME  COUNT  TEXT', 'a         1  one', 'long   1000  two']);
});

test('a text that does not fit is shortened, but not below its least width', () => {
  const rows = [['a', '1', 'a long text that does not fit']];
  expect(table(COLUMNS, rows, 25)[1]).toBe('a         1  a long te...');
  expect(table(COLUMNS, rows, 5)[1]).toBe('a         1  a l...');
});

test('a cell may lack its middle instead of its end', () => {
  const columns = [{ head: 'A', least: 5, cut: 'middle' }] as const;
  expect(table(columns, [['file=src/part-12/index.ts']], 14)[1]).toBe('file=s...ex.ts');
});

test('wide characters take two cells', () => {
  const [, wide, narrow] = table(
    ['A', 'B'],
    [
      ['日本', 'x'],
      ['abcd', 'x'],
    ],
  );
  expect([wide, narrow]).toEqual(['日本  x', 'abcd  x']);
});

test('an optional column without values is left out', () => {
  const columns = ['A', { head: 'B', isOptional: true }, 'C'];
  expect(table(columns, [['a', '', 'c']])).toEqual(['A  C', 'a  c']);
  expect(table(columns, [['a', 'b', 'c']])).toEqual(['A  B  C', 'a  b  c']);
});

test('hostile cells cannot begin a line or act', () => {
  const lines = table(['A', 'B'], [['x\n\x1b[2Jy', '\u202e\r\nz']]);
  expect(lines).toEqual(['A           B', 'x \\x1b[2Jy  \\u{202e} z']);
});
