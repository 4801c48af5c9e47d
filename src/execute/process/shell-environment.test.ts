import { expect, test } from 'vitest';
import { environmentChange, quoted, shellEnvironment } from './shell-environment.ts';

test('a shell gets what changes neither the shell itself nor a step', () => {
  const env = { PATH: '/bin', TMOUT: '1', IFS: 'x', RAYMOND_STATE: 'A', RAYMOND_STEP_TOKEN: 't' };
  expect(shellEnvironment(env)).toEqual({ PATH: '/bin', RAYMOND_STEP_TOKEN: 't' });
});

test.each([
  ['the same', { A: '1' }, { A: '1' }, { unset: 'OLDPWD PWD', set: '' }],
  ['a new one', {}, { A: '1' }, { unset: 'OLDPWD PWD', set: "A='1'" }],
  ['a changed one', { A: '1' }, { A: '2' }, { unset: 'OLDPWD PWD', set: "A='2'" }],
  ['one less', { A: '1' }, {}, { unset: 'OLDPWD PWD A', set: '' }],
  ['a directory', {}, { PWD: '/x', OLDPWD: '/y' }, { unset: '', set: "PWD='/x' OLDPWD='/y'" }],
  ['an odd name that stays', { 'a-b': '1' }, { 'a-b': '1' }, { unset: 'OLDPWD PWD', set: '' }],
  ['an odd name that comes', {}, { 'a-b': '1' }, undefined],
  ['an odd name that goes', { 'a-b': '1' }, {}, undefined],
  ['an exported function', {}, { 'BASH_FUNC_x%%': '() { :; }' }, undefined],
  ['a name that bash guards', {}, { SHELLOPTS: 'xtrace' }, undefined],
  ['NUL', {}, { A: '\0' }, undefined],
])('%s', (_, shell, wanted, expected) => {
  expect(environmentChange(shell, wanted)).toEqual(expected);
});

test.each([
  ['', "''"],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$(x) `y` "z" \\', `'$(x) \`y\` "z" \\'`],
  ['\n', "'\n'"],
])('quotes %j', (text, word) => {
  expect(quoted(text)).toBe(word);
});
