import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { diskError, guarded, type Operation } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { makeFolder, realDisk, replaceFile } from './disk.ts';

describe('replacing a file', () => {
  test('gives the new text, which only the owner can read', async () => {
    const path = join(await temporaryFolder(), 'x.json');
    await replaceFile(realDisk, path, 'old');
    await replaceFile(realDisk, path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('syncs the text before the name, and the name before it returns', async () => {
    const operations: Operation[] = [];
    const disk = guarded(realDisk, (operation) => {
      operations.push(operation);
      return undefined;
    });
    await replaceFile(disk, join(await temporaryFolder(), 'x.json'), 'text');
    expect(operations).toEqual(['open', 'write', 'sync', 'rename', 'syncFolder']);
  });

  test.each(['open', 'write', 'sync', 'rename'] as const)(
    'keeps only the old file when %s fails',
    async (failing) => {
      const folder = await temporaryFolder();
      const path = join(folder, 'x.json');
      await replaceFile(realDisk, path, 'old');
      const disk = guarded(realDisk, (operation) =>
        operation === failing ? { error: diskError('ENOSPC') } : undefined,
      );
      await expect(replaceFile(disk, path, 'new')).rejects.toThrow('ENOSPC');
      expect(await readFile(path, 'utf8')).toBe('old');
      expect(await readdir(folder)).toEqual(['x.json']);
    },
  );

  test('continues a write that took only a part', async () => {
    const path = join(await temporaryFolder(), 'x.json');
    const disk = guarded(realDisk, () => ({ half: true }));
    await replaceFile(disk, path, 'a longer text');
    expect(await readFile(path, 'utf8')).toBe('a longer text');
  });
});

describe('making a folder', () => {
  test('creates the folders above it, for the owner only', async () => {
    const folder = join(await temporaryFolder(), 'a', 'b', 'c');
    await Promise.all([makeFolder(realDisk, folder), makeFolder(realDisk, folder)]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, '..'))).mode & 0o777).toBe(0o700);
  });

  test('accepts an existing folder, but not a file', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'there'));
    await makeFolder(realDisk, join(folder, 'there'));
    await writeFile(join(folder, 'file'), '');
    await expect(makeFolder(realDisk, join(folder, 'file'))).rejects.toThrow('EEXIST');
    await expect(makeFolder(realDisk, join(folder, 'file', 'below'))).rejects.toThrow('ENOTDIR');
    if (existsSync('/proc')) {
      await expect(makeFolder(realDisk, '/proc/none')).rejects.toThrow('ENOENT');
      await expect(makeFolder(realDisk, '/proc/none/below')).rejects.toThrow('ENOENT');
    }
  });
});
