// The converter of pictures reads styles and columns from a captured screen.
import { expect, test } from 'vitest';
import { readScreen, type Style } from './screen-text.ts';

const ESC = '\u001b';

test.each<[string, string, Style]>([
  ['plain text', 'a', {}],
  ['a colour', `${ESC}[31ma`, { ink: 1 }],
  ['a bright colour', `${ESC}[92ma`, { ink: 10 }],
  ['a background', `${ESC}[44ma`, { paper: 4 }],
  ['several at once', `${ESC}[1;2;33ma`, { bold: true, dim: true, ink: 3 }],
  ['normal weight again', `${ESC}[1;4m${ESC}[22ma`, { underline: true }],
  ['the default colour again', `${ESC}[31m${ESC}[39ma`, {}],
  ['everything off', `${ESC}[7;31m${ESC}[0ma`, {}],
  ['an empty sequence', `${ESC}[31m${ESC}[ma`, {}],
  ['one of 256 colours', `${ESC}[38;5;208ma`, { ink: '#ff8700' }],
  ['one of the first sixteen', `${ESC}[38;5;9ma`, { ink: 9 }],
  ['a grey', `${ESC}[38;5;244;1ma`, { ink: '#808080', bold: true }],
  ['any colour', `${ESC}[48;2;1;2;255ma`, { paper: '#0102ff' }],
  ['a link', `${ESC}]8;;https://example.com${ESC}\\a`, {}],
])('%s', (_, captured, style) => {
  expect(readScreen(captured)).toEqual([[{ text: 'a', column: 0, width: 1, style }]]);
});

test('the style continues in the next row', () => {
  const rows = readScreen(`${ESC}[31ma\nb`);
  expect(rows.map((row) => row[0]?.style)).toEqual([{ ink: 1 }, { ink: 1 }]);
});

test('a gap starts a new piece, and blanks are not drawn', () => {
  const [row] = readScreen('ab   c d  ');
  expect(row).toMatchObject([
    { text: 'ab', column: 0 },
    { text: 'c d', column: 5 },
  ]);
});

test('blanks with a background are drawn', () => {
  expect(readScreen(`${ESC}[42m   `)).toEqual([
    [{ text: '   ', column: 0, width: 3, style: { paper: 2 } }],
  ]);
});

test('wide letters take two columns, marks take none', () => {
  expect(readScreen('日e\u0301')[0]).toMatchObject([{ width: 3 }]);
});

test('empty rows at the end are left out', () => {
  expect(readScreen('a\n\nb\n\n\n')).toHaveLength(3);
});
