import { expect, test } from 'vitest';
import { keysIn } from './keys.ts';

test.each([
  ['arrows, in both modes of a terminal', '\x1b[A\x1bOB', ['up', 'down']],
  ['pages', '\x1b[5~\x1b[6~\x1b[H\x1b[4~', ['page-up', 'page-down', 'home', 'end']],
  ['Esc alone', '\x1b', ['escape']],
  ['a letter', '?', [{ letter: '?' }]],
  [
    'control characters',
    '\x03\x1a\x1c\x0c\r',
    ['ctrl-c', 'ctrl-z', 'ctrl-backslash', 'ctrl-l', 'enter'],
  ],
  ['keys without a meaning', '\x1b[24~\x01\x1b[1;5A', []],
  ['pasted text', 'say yes\r', []],
])('%s', (_, piece, keys) => expect(keysIn(piece)).toEqual(keys));
