import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { realDisk } from './disk.ts';
import { userKey } from './user-key.ts';

const newFile = async () => join(await temporaryFolder(), 'state', 'raymond', 'key');

describe('a key', () => {
  test('seals a text for a purpose, also for other processes', async () => {
    const file = await newFile();
    const seal = await userKey(realDisk, file).seal('message', 'yes');
    const other = userKey(realDisk, file);
    expect(await other.isSealed('message', 'yes', seal)).toBe(true);
    expect(await other.isSealed('message', 'no', seal)).toBe(false);
    expect(await other.isSealed('run', 'yes', seal)).toBe(false);
    for (const forged of ['', 'zz', seal.slice(2), `${seal}00`, seal.replace(/./g, '0')])
      expect(await other.isSealed('message', 'yes', forged), forged).toBe(false);
  });

  test('gives a key for each purpose, the same for all processes', async () => {
    const file = await newFile();
    expect(await userKey(realDisk, file).derivedIfKnown('lines')).toBeUndefined();
    const lines = await userKey(realDisk, file).derived('lines');
    expect(await userKey(realDisk, file).derivedIfKnown('lines')).toEqual(lines);
    expect(await userKey(realDisk, file).derived('steps')).not.toEqual(lines);
  });

  test('is readable only for its user, and leaves no other file', async () => {
    const file = await newFile();
    await userKey(realDisk, file).seal('a', 'b');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
    expect(await readdir(dirname(file))).toEqual(['key']);
  });

  test('is not created by checking a seal, and is used once another process has created it', async () => {
    const file = await newFile();
    const looking = userKey(realDisk, file);
    expect(await looking.isSealed('a', 'b', '00')).toBe(false);
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
    const seal = await userKey(realDisk, file).seal('a', 'b');
    expect(await looking.isSealed('a', 'b', seal)).toBe(true);
  });

  test('is the same for all processes that create it together', async () => {
    const file = await newFile();
    const seals = await Promise.all(
      Array.from({ length: 20 }, () => userKey(realDisk, file).seal('a', 'b')),
    );
    expect(new Set(seals).size).toBe(1);
  });

  test.each([
    ['damaged', async (file: string) => writeFile(file, 'short\n', { mode: 0o600 })],
    ['readable for others', async (file: string) => chmod(file, 0o644)],
    [
      'a folder',
      async (file: string) => {
        await realDisk.unlink(file);
        await mkdir(file, { mode: 0o700 });
      },
    ],
  ])('that is %s is not used, and not replaced', async (_, spoil) => {
    const file = await newFile();
    const seal = await userKey(realDisk, file).seal('a', 'b');
    await spoil(file);
    const key = userKey(realDisk, file);
    for (const use of [key.seal('a', 'b'), key.isSealed('a', 'b', seal)])
      await expect(use).rejects.toMatchObject({ code: 'user-key-unusable' });
  });

  test('that cannot be written gives a remedy, and leaves nothing behind', async () => {
    const file = await newFile();
    const disk = guarded(realDisk, (operation) =>
      operation === 'write' ? { error: diskError('ENOSPC') } : undefined,
    );
    await expect(userKey(disk, file).seal('a', 'b')).rejects.toMatchObject({
      code: 'user-key-unwritable',
      remedy: expect.stringContaining('Free some space'),
    });
    expect(await readdir(dirname(file))).toEqual([]);
  });

  test('is not read through a link of another user', async () => {
    const file = await newFile();
    await userKey(realDisk, file).seal('a', 'b');
    const text = await readFile(file, 'utf8');
    const elsewhere = join(dirname(file), 'planted');
    await writeFile(elsewhere, text, { mode: 0o666 });
    await chmod(elsewhere, 0o666);
    await realDisk.unlink(file);
    await symlink(elsewhere, file);
    await expect(userKey(realDisk, file).seal('a', 'b')).rejects.toMatchObject({
      code: 'user-key-unusable',
    });
  });
});
