import { expect, test } from 'vitest';
import { parseExit, parseRecord } from './record.ts';
import { hashOfWord, newWord } from './success-word.ts';

const word = newWord();

test.each([
  [`exited 0:${word}\n`, { kind: 'exited', code: 0 }],
  ['exited 0\n', undefined],
  ['exited 0:abc\n', undefined],
  ['exited 127\n', { kind: 'exited', code: 127 }],
  ['exited 128\n', { kind: 'exited', code: 128 }],
  ['exited 255\n', { kind: 'exited', code: 255 }],
  ['exited 137\n', { kind: 'exited', code: 137 }],
  ['exited 143\r\n', { kind: 'exited', code: 143 }],
  ['exited 7\n                       ', { kind: 'exited', code: 7 }],
  ['unstarted 0\n', { kind: 'unstarted', reason: 'Raymond ended before cc began.' }],
  [
    'unstarted 1\n',
    { kind: 'unstarted', reason: expect.stringContaining('disk has space'), mayPass: true },
  ],
  ['unstarted 127\n', { kind: 'unstarted', reason: expect.stringContaining('no program cc') }],
  ['unstarted 126\n', { kind: 'unstarted', reason: expect.stringContaining('cc cannot be') }],
  ['', undefined],
  ['                                ', undefined],
  ['exited', undefined],
  ['exited 1', undefined],
])('parses the exit file %j', (text, expected) => {
  const files = { success: hashOfWord(word) };
  expect(parseExit(text, { command: 'cc', files })).toEqual(expected);
});

const identity = { pid: 7, started: '12', boot: 'b' };
const record = { identity, token: 't', command: 'c' };

test('parses a record that was written', () => {
  expect(parseRecord(JSON.stringify(record))).toEqual(record);
});

test.each([
  ['an empty text', ''],
  ['a line that was cut off', JSON.stringify(record).slice(0, -4)],
  ['a text that is not an object', 'null'],
  ['a record without an identity', JSON.stringify({ ...record, identity: undefined })],
  [
    'a record with an empty token, which would match every process',
    JSON.stringify({ ...record, token: '' }),
  ],
  [
    'a record with a group instead of a pid',
    JSON.stringify({ ...record, identity: { ...identity, pid: -1 } }),
  ],
])('rejects %s', (_, text) => {
  expect(parseRecord(text)).toBeUndefined();
});
