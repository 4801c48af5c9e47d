import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BoundedLog, NewestFiles } from './bounded-files.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'raymond-bounds-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const path = (name: string) => join(root, name);

test.each([
  ['too many', { files: 3, bytes: 1000 }, ['d', 'e', 'f']],
  ['too large together', { files: 100, bytes: 25 }, ['e', 'f']],
  ['too large one by one: the newest stays', { files: 100, bytes: 5 }, ['f']],
  ['few and small', { files: 100, bytes: 1000 }, ['a', 'b', 'c', 'd', 'e', 'f']],
])('files that are %s', (_, bounds, expected) => {
  const files = new NewestFiles(bounds);
  for (const name of 'abcdef') files.write(path(name), 'ä'.repeat(5));
  expect(readdirSync(root).sort()).toEqual(expected);
});

test('a full log starts again, even one from an earlier process', () => {
  const append = (line: string) => new BoundedLog(path('log'), 12).append(line);
  for (const line of ['one\n', 'two\n', 'three\n', 'four\n', 'five\n']) append(line);
  expect(readFileSync(path('log'), 'utf8')).toBe('five\n');
  expect(readFileSync(path('log.1'), 'utf8')).toBe('three\nfour\n');
});
