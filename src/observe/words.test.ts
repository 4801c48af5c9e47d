import { expect, test } from 'vitest';
import { duration, elapsed, oneLine, usd } from './words.ts';

test.each([
  [0, '$0.00'],
  [0.0312, '$0.0312'],
  [1, '$1.00'],
  [12.345, '$12.35'],
])('%d USD is %s', (amount, text) => expect(usd(amount)).toBe(text));

test('an estimate is marked, unless it is nothing', () => {
  expect([usd(0.03, true), usd(12, true), usd(0, true)]).toEqual(['~$0.0300', '~$12.00', '$0.00']);
});

test.each([
  [0, '0.0 s'],
  [1_240, '1.2 s'],
  [61_000, '1 min 1 s'],
  [3_660_000, '1 h 1 min'],
  [-5, '0.0 s'],
])('%d ms is %s', (ms, text) => expect(duration(ms)).toBe(text));

test.each([
  [0, '0:00'],
  [5_999, '0:05'],
  [725_000, '12:05'],
  [3_725_000, '1:02:05'],
  [-5, '0:00'],
])('%d ms is %s on a running clock', (ms, text) => expect(elapsed(ms)).toBe(text));

test.each([
  ['two\nlines\tand  spaces', 'two lines and spaces'],
  ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
  ['a gap\u00a0\u3000\t of\r\n\r\n blanks', 'a gap of blanks'],
  ['bell\x07 and backspace\x08', 'bell\\x07 and backspace\\x08'],
  ['right\u202eto left', 'right\\u{202e}to left'],
])('%j is shown as %j', (text, shown) => expect(oneLine(text)).toBe(shown));

test('a long text is cut between characters', () => {
  const cut = oneLine('😀'.repeat(500), 10);
  expect(cut).toBe(`${'😀'.repeat(10)}...`);
});
