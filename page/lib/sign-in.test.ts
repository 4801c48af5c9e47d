import { expect, test } from 'vitest';
import { tokenIn } from './sign-in.ts';

test.each([
  ['#token=a-b_c', 'a-b_c', '#/'],
  ['#token=x&to=/runs/r1/log', 'x', '#/runs/r1/log'],
  ['#/runs/r1', undefined, '#/runs/r1'],
  ['#/runs/token=1', undefined, '#/runs/token=1'],
  ['', undefined, ''],
])('%j', (hash, token, rest) => {
  expect(tokenIn(hash)).toEqual({ token, rest });
});
