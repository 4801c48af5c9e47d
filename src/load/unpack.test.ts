import { mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unpack } from './unpack.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'raymond-unpack-'));
});
afterAll(() => rm(root, { recursive: true }));

const files = [
  { name: 'A.sh', bytes: Buffer.from('echo a') },
  { name: 'Ä b.sh', bytes: Buffer.from('echo b') },
];

test('only the owner can access files and folders', async () => {
  const folder = await unpack(files, join(root, 'own'), 'w', '/w.zip');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'A.sh'))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder, 'Ä b.sh'), 'utf8')).toBe('echo b');
});

test('unpacked files that are unchanged stay', async () => {
  const into = join(root, 'stays');
  const folder = await unpack(files, into, 'w', '/w.zip');
  const { ino } = await stat(folder);
  expect(await unpack(files, into, 'w', '/w.zip')).toBe(folder);
  expect((await stat(folder)).ino).toBe(ino);
});

test.each<[string, (folder: string) => Promise<void>]>([
  ['changed', (folder) => writeFile(join(folder, 'A.sh'), 'echo x')],
  ['cut off', (folder) => writeFile(join(folder, 'A.sh'), '')],
  ['missing', (folder) => unlink(join(folder, 'A.sh'))],
  ['added', (folder) => writeFile(join(folder, 'C.sh'), '')],
])('a folder with a file %s is replaced', async (change, spoil) => {
  const into = join(root, change);
  const folder = await unpack(files, into, 'w', '/w.zip');
  await spoil(folder);
  expect(await unpack(files, into, 'w', '/w.zip')).toBe(folder);
  expect(await readFile(join(folder, 'A.sh'), 'utf8')).toBe('echo a');
  expect((await readdir(folder)).length).toBe(2);
  expect(await readdir(into)).toHaveLength(1);
});

test('each source has its own folder, whatever its name', async () => {
  const into = join(root, 'names');
  const folders = [
    await unpack(files, into, 'w', '/a/w.zip'),
    await unpack(files, into, 'w', '/b/w.zip'),
    await unpack(files, into, '../../Ä/x', '/c/w.zip'),
    await unpack(files, into, '', '/d/w.zip'),
  ];
  expect(new Set(folders).size).toBe(4);
  expect((await readdir(into)).length).toBe(4);
});

test('a failed unpacking leaves nothing behind', async () => {
  const into = join(root, 'fails');
  const twice = [...files, ...files];
  await expect(unpack(twice, into, 'w', '/w.zip')).rejects.toThrow('EEXIST');
  expect(await readdir(into)).toEqual([]);
});
