import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test.each([
  [counted(0, 'state'), '0 states'],
  [counted(1, 'state'), '1 state'],
  [counted(2, 'state'), '2 states'],
  [counted(1, 'process', 'processes'), '1 process'],
  [counted(2, 'process', 'processes'), '2 processes'],
])('%s', (text, expected) => {
  expect(text).toBe(expected);
});
