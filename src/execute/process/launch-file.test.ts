import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { launchFileOf, parseLaunch, withdraw } from './launch-file.ts';

const note = { token: 't', command: 'c', boot: 'b', launcher: 7 };
const file = (head: string, second = `#${JSON.stringify(note)}`) =>
  `${head}\n${second}\nRAYMOND_ID=1\n`;

test.each([
  ['#          ', { kind: 'requested' }],
  ['', { kind: 'requested' }],
  ['#began 0 12 345      ', { kind: 'began', code: 0, pid: 12, started: '345' }],
  ['#exited 137 12 345   ', { kind: 'exited', code: 137, pid: 12, started: '345' }],
  ['#unstarted 127 12 345', { kind: 'unstarted', code: 127, pid: 12, started: '345' }],
  [
    '#exited 0 12 Sat Nov 15 21:57:03 2025  ',
    { kind: 'exited', code: 0, pid: 12, started: 'Sat Nov 15 21:57:03 2025' },
  ],
  ['#exited 0 12 ', { kind: 'requested' }],
])('parses the first line %j', (head, progress) => {
  expect(parseLaunch(file(head))).toMatchObject({ note, progress });
});

test.each([
  ['an empty file', ''],
  ['the first line of a late witness', '#began 0 12 345\n'],
  ['a file that was cut off', file('#', `#${JSON.stringify(note).slice(0, -3)}`)],
  ['a note without a token', file('#', `#${JSON.stringify({ ...note, token: '' })}`)],
  ['a note without a launcher', file('#', `#${JSON.stringify({ ...note, launcher: 1 })}`)],
])('rejects %s', (_, text) => {
  expect(parseLaunch(text)).toBeUndefined();
});

test.each([
  ['a request', file('#'), true],
  ['a command that began', file('#began 0 12 345'), false],
  ['a command that exited', file('#exited 0 12 345'), false],
  ['nothing', undefined, false],
])('a withdrawal of %s', (_, text, isWithdrawn) => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-launch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (text !== undefined) writeFileSync(launchFileOf(folder), text);
  expect(withdraw(folder)).toBe(isWithdrawn);
  expect(existsSync(launchFileOf(folder))).toBe(text !== undefined && !isWithdrawn);
});
