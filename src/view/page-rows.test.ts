import { expect, test } from 'vitest';
import type { Key } from './keys.ts';
import { firstRow, type Scroll, scrolled, scrollText } from './page-rows.ts';

const SIZE = { rows: 100, room: 20 };

test.each<[string, Scroll, Key, Scroll]>([
  ['a row up leaves the end', 'end', 'up', 79],
  ['a row down reaches it', 79, 'down', 'end'],
  ['a page keeps a row', 'end', 'page-up', 61],
  ['a page down', 0, 'page-down', 19],
  ['the first row', 50, 'home', 0],
  ['above the first row', 0, 'up', 0],
  ['the end', 0, 'end', 'end'],
])('%s', (_, scroll, key, after) => expect(scrolled(scroll, key, SIZE)).toBe(after));

test('a text that fits is shown from its first row, and its end is followed', () => {
  const short = { rows: 5, room: 20 };
  expect(firstRow('end', short)).toBe(0);
  expect(scrolled('end', 'up', short)).toBe('end');
});

test('the place in the text', () => {
  expect(scrollText('end', SIZE)).toBe('end');
  expect(scrollText(40, SIZE)).toBe('50 %');
});
