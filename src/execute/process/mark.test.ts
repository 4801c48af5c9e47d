import { expect, test } from 'vitest';
import {
  limitMark,
  limitOf,
  MARKS,
  markOf,
  newToken,
  runKey,
  tokensIn,
  withToken,
} from './mark.ts';

test.each([
  ['first in an environ', 'RAYMOND_STEP_TOKEN=aa\0HOME=/x\0', ['aa']],
  ['later in an environ', 'HOME=/x\0RAYMOND_STEP_TOKEN=aa\0', ['aa']],
  ['after a command', 'sleep 9 HOME=/x RAYMOND_STEP_TOKEN=aa', ['aa']],
  ['of an inner and an outer step', 'RAYMOND_STEP_TOKEN=aa:bb', ['aa', 'bb']],
  ['in another variable', 'MY_RAYMOND_STEP_TOKEN=aa\0OTHER=aa', []],
  ['in the arguments of a search', 'grep aa', []],
  ['in an empty environment', '', []],
])('finds a token: %s', (_, environment, expected) => {
  expect(tokensIn(environment)).toEqual(expected);
});

test('an inner step also has the token of the outer step', () => {
  const inner = withToken(withToken({ A: 'b' }, 'outer'), 'inner');
  expect(inner).toEqual({ A: 'b', RAYMOND_STEP_TOKEN: 'outer:inner' });
});

const key = runKey('/project/.raymond/runs/r', 'boot');

test('a token names its run and its step', () => {
  expect(markOf(newToken({ key, number: 7 }, 'cba0'))).toEqual({ key, number: 7 });
  expect(markOf('0d2f9c1e-7d3b-4a51-9d3f-0a8a3a2f6a11')).toBeUndefined();
});

test('another folder or another boot gives another run key', () => {
  expect(runKey('/project/.raymond/runs/s', 'boot')).not.toBe(key);
  expect(runKey('/project/.raymond/runs/r', 'other')).not.toBe(key);
});

const limits = (soft: string) => `
Max cpu time              unlimited            unlimited            seconds
Max file locks            ${soft.padEnd(20)} unlimited            locks
Max pending signals       15399                15399                signals
`;

test.each(['000000000', '0000000ff', 'fffffffff', key])(
  'a limit encodes the mark of run %s',
  (run) => {
    for (const number of [0, 4711, MARKS - 1]) {
      const value = limitOf({ key: run, number });
      expect(value < 2n ** 63n).toBe(true);
      expect(limitMark(limits(String(value)))).toEqual({ key: run, number });
    }
  },
);

test.each([
  ['an unlimited value', limits('unlimited')],
  ['an empty file', ''],
])('%s has no mark', (_, text) => {
  expect(limitMark(text)).toBeUndefined();
});
