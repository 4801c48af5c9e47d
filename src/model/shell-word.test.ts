import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test.each([
  ['flows/review', 'flows/review'],
  ['prüfung-1.2', 'prüfung-1.2'],
  ['my flow', "'my flow'"],
  ['', "''"],
  ['~', "'~'"],
  ['x; rm -rf .', "'x; rm -rf .'"],
  ["it's", "'it'\\''s'"],
])('%j is written as %s', (text, word) => expect(shellWord(text)).toBe(word));

test('a shell reads the same text, as one word', () => {
  const texts = fc.sample(fc.string({ unit: 'grapheme-ascii' }), { numRuns: 200, seed: 1 });
  const words = texts.map(shellWord).join(' ');
  const read = execFileSync('sh', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' });
  expect(read.split('\0').slice(0, -1)).toEqual(texts);
});
