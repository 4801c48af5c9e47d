import { expect, test } from 'vitest';
import { carriesToken, withToken } from './token.ts';

test.each([
  ['first in an environ', 'RAYMOND_STEP_TOKEN=aa\0HOME=/x\0', true],
  ['later in an environ', 'HOME=/x\0RAYMOND_STEP_TOKEN=aa\0', true],
  ['after a command', 'sleep 9 HOME=/x RAYMOND_STEP_TOKEN=aa', true],
  ['of an inner step', 'RAYMOND_STEP_TOKEN=aa:bb', true],
  ['of an outer step', 'RAYMOND_STEP_TOKEN=bb:aa', true],
  ['of another step', 'RAYMOND_STEP_TOKEN=bb', false],
  ['as a part of another', 'RAYMOND_STEP_TOKEN=aab', false],
  ['in another variable', 'MY_RAYMOND_STEP_TOKEN=aa\0OTHER=aa', false],
  ['searched by somebody', 'grep aa', false],
  ['in an empty environment', '', false],
])('a token %s', (_, environment, expected) => {
  expect(carriesToken(environment, 'aa')).toBe(expected);
});

test('an inner step carries the token of the outer one too', () => {
  const inner = withToken(withToken({ A: 'b' }, 'outer'), 'inner');
  expect(inner).toEqual({ A: 'b', RAYMOND_STEP_TOKEN: 'outer:inner' });
});
