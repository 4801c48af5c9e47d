import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realDisk } from './disk.ts';
import { fileCache } from './file-cache.ts';
import { userKey } from './user-key.ts';

async function newCache() {
  const folder = await mkdtemp(join(tmpdir(), 'raymond-cache-'));
  const key = userKey(realDisk, join(folder, 'key'));
  await key.seal('run', 'makes the key');
  const file = join(folder, 'cache-a');
  return { folder, key, file, cache: fileCache(realDisk, file, 'a', key) };
}

test.each<[string, (text: string) => string]>([
  ['with another text', (text) => text.replace('true', 'false')],
  ['without a seal', () => 'true\n'],
  ['of nothing', () => ''],
])('a file %s is no cache', async (_, change) => {
  const { cache, file } = await newCache();
  await cache.write('true');
  expect(await cache.read()).toBe('true');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  expect(await cache.read()).toBeUndefined();
});

test('the cache of another name is no cache', async () => {
  const { cache, file, key } = await newCache();
  await cache.write('true');
  expect(await fileCache(realDisk, file, 'b', key).read()).toBeUndefined();
});

test('a disk that cannot be written loses the cache, and nothing fails', async () => {
  const { folder, key } = await newCache();
  const cache = fileCache(realDisk, join(folder, 'missing', 'cache-a'), 'a', key);
  await cache.write('true');
  expect(await cache.read()).toBeUndefined();
});
