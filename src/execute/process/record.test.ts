import { expect, test } from 'vitest';
import { parseExit, parseRecord } from './record.ts';

test.each([
  ['exited 0\n', { kind: 'exited', code: 0 }],
  ['exited 127\n', { kind: 'exited', code: 127 }],
  ['exited 128\n', { kind: 'exited', code: 128 }],
  ['exited 255\n', { kind: 'exited', code: 255 }],
  ['exited 137\n', { kind: 'exited', code: 137 }],
  ['exited 143\r\n', { kind: 'exited', code: 143 }],
  ['exited 7\n                       ', { kind: 'exited', code: 7 }],
  ['unstarted 0\n', { kind: 'unstarted', reason: 'Raymond ended before cc began.' }],
  ['unstarted 127\n', { kind: 'unstarted', reason: expect.stringContaining('no program cc') }],
  ['unstarted 126\n', { kind: 'unstarted', reason: expect.stringContaining('cc cannot be') }],
  ['', undefined],
  ['                                ', undefined],
  ['exited', undefined],
  ['exited 1', undefined],
])('the exit %j', (text, expected) => {
  expect(parseExit(text, 'cc')).toEqual(expected);
});

const identity = { pid: 7, started: '12', boot: 'b' };
const record = { identity, token: 't', command: 'c' };

test('a record is read back', () => {
  expect(parseRecord(JSON.stringify(record))).toEqual(record);
});

test.each([
  ['nothing', ''],
  ['a torn line', JSON.stringify(record).slice(0, -4)],
  ['no object', 'null'],
  ['no identity', JSON.stringify({ ...record, identity: undefined })],
  ['no token, which every process would carry', JSON.stringify({ ...record, token: '' })],
  ['a group for a pid', JSON.stringify({ ...record, identity: { ...identity, pid: -1 } })],
])('%s is no record', (_, text) => {
  expect(parseRecord(text)).toBeUndefined();
});
