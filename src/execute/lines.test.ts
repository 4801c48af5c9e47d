import { expect, test } from 'vitest';
import { lineReader } from './lines.ts';

test('lines come with the offset after them, however the bytes are cut', () => {
  const bytes = Buffer.from('één\n\ntwo\nrest');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const read = lineReader(10);
    const lines = [...read(bytes.subarray(0, cut)), ...read(bytes.subarray(cut))];
    expect(lines).toEqual([
      { text: 'één', end: 16 },
      { text: '', end: 17 },
      { text: 'two', end: 21 },
    ]);
  }
});

test('a line above the limit is left out, and the next one is not', () => {
  const read = lineReader(0, 4);
  expect(read(Buffer.from('12'))).toEqual([]);
  expect(read(Buffer.from('345'))).toEqual([]);
  expect(read(Buffer.from('6\nfour\n'))).toEqual([{ text: 'four', end: 12 }]);
});
