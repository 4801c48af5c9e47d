import { expect, test } from 'vitest';
import { tagWords } from './tag-words.ts';

test.each([
  ['goto', '', ' FIX ', { does: '→ goes to', what: 'FIX' }],
  ['call', ' return="END"', 'REVIEW', { does: '↳ calls', what: 'REVIEW, then END' }],
  ['ask', ' next=\'DONE\' timeout="1h"', 'Which?', { does: '? asks', what: 'Which?, then DONE' }],
  ['constructor', '', 'x', { does: 'constructor', what: 'x' }],
] as const)('%s%s', (name, attributes, body, words) => {
  expect(tagWords(name, attributes, body)).toEqual(words);
});
