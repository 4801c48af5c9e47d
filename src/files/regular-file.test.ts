import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, sep } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  isWithin,
  openRegularFile,
  readFileWithin,
  readPartSync,
  readRegularFile,
  readRegularFileSync,
} from './regular-file.ts';

const root = mkdtempSync(join(tmpdir(), 'raymond-files-'));
const path = (name: string) => join(root, name);
mkdirSync(path('folder'));
mkdirSync(path('folder 2'));
writeFileSync(path('folder/text'), 'äbc');
writeFileSync(path('folder 2/secret'), 'secret');
writeFileSync(path('huge'), '');
truncateSync(path('huge'), 2 ** 40);
symlinkSync('text', path('folder/inside'));
symlinkSync('../folder 2/secret', path('folder/outside'));
symlinkSync('/dev/zero', path('zero'));
if (process.platform !== 'win32') execFileSync('mkfifo', [path('pipe')]);
afterAll(() => rmSync(root, { recursive: true }));

const READERS: readonly [string, (path: string, max: number) => Promise<string>][] = [
  ['readRegularFile', async (file, max) => (await readRegularFile(file, max)).toString()],
  ['readRegularFileSync', async (file, max) => readRegularFileSync(file, max).toString()],
  [
    'readFileWithin',
    async (file, max) => (await readFileWithin(root, file.slice(root.length + 1), max)).toString(),
  ],
];

test.each(READERS)('%s reads a file of the maximum size', async (_, read) => {
  expect(await read(path('folder/text'), 4)).toBe('äbc');
  expect(await read(path('folder/inside'), 100)).toBe('äbc');
  await expect(read(path('folder/text'), 3)).rejects.toThrow('larger than');
});

test.each(READERS)('%s rejects a file of one terabyte without reading it', async (_, read) => {
  await expect(read(path('huge'), 1024 * 1024)).rejects.toThrow('it is larger than 1 MiB');
});

test.each(READERS)('%s reports that the file does not exist', async (_, read) => {
  await expect(read(path('nothing'), 10)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.runIf(process.platform !== 'win32').each(READERS)(
  '%s does not wait for a pipe and does not read a device',
  async (name, read) => {
    await expect(read(path('pipe'), 10)).rejects.toThrow('not a regular file');
    await expect(read(path('folder'), 10)).rejects.toThrow('not a regular file');
    const refusal = name === 'readFileWithin' ? 'leaves its folder' : 'not a regular file';
    await expect(read(path('zero'), 10)).rejects.toThrow(refusal);
  },
);

test('a file outside the folder is not read', async () => {
  const read = (name: string) => readFileWithin(path('folder'), name, 100);
  await expect(read('outside')).rejects.toThrow('leaves its folder');
  await expect(read('../folder 2/secret')).rejects.toThrow('leaves its folder');
  expect((await read('inside')).toString()).toBe('äbc');
});

test('a part ends at the end of the file', () => {
  expect(readPartSync(path('folder/text'), 2, 100).toString()).toBe('bc');
});

test('a pipe is not opened for writing', async () => {
  await expect(openRegularFile(path('pipe'), 'change')).rejects.toThrow('not a regular file');
});

test('a link is not followed if the caller forbids it', async () => {
  const opened = openRegularFile(path('folder/inside'), 'change', { followLink: false });
  await expect(opened).rejects.toThrow('not a regular file');
});

test.each([
  ['/a', '/a/b', true],
  ['/a', '/a', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/a', '/a/..b', true],
])('isWithin(%s, %s) is %s', (folder, file, is) => {
  expect(isWithin(folder, file)).toBe(is);
});

test('isWithin says the same about a path however it is spelled', () => {
  const spelling = fc
    .array(fc.constantFrom('/', '.', '..', 'a', 'b', '\n', 'a.'), { maxLength: 8 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(spelling, spelling, (folder, file) => {
      const way = relative(folder, file);
      const is = way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
      expect(isWithin(folder, file)).toBe(is);
    }),
    { numRuns: 2000 },
  );
});
