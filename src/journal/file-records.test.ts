import { appendFile, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { realDisk } from './disk.ts';
import { fileRecords, keepRecord, keepTree } from './file-records.ts';

async function paths() {
  const root = await temporaryFolder();
  return {
    folders: { step: (agent: string, step: number) => join(root, agent, String(step)) },
    trees: join(root, 'trees.jsonl'),
  };
}

test('a tree that was kept after a torn line is found, and the torn one is not', async () => {
  const where = await paths();
  await keepTree(realDisk, where, { agent: 'main', step: 1 }, 'aaa');
  await appendFile(where.trees, '{"agent":"main","step":2,"tr');
  await keepTree(realDisk, where, { agent: 'main', step: 3 }, 'ccc');
  const records = fileRecords(realDisk, where);
  const trees = [1, 2, 3].map((step) => records.tree({ agent: 'main', step }));
  expect(await Promise.all(trees)).toEqual(['aaa', undefined, 'ccc']);
});

test('the last tree of a step counts', async () => {
  const where = await paths();
  await keepTree(realDisk, where, { agent: 'main', step: 1 }, 'aaa');
  await keepTree(realDisk, where, { agent: 'main', step: 1 }, 'bbb');
  expect(await fileRecords(realDisk, where).tree({ agent: 'main', step: 1 })).toBe('bbb');
});

test('a record that is a link is not followed, neither to read nor to write', async () => {
  const where = await paths();
  const step = { agent: 'main', step: 1 };
  await keepRecord(realDisk, where, step, 'stdout', Buffer.from('mine'));
  const other = join(where.folders.step('main', 1), 'stdout');
  await symlink(other, join(where.folders.step('main', 1), 'answer'));
  expect(await fileRecords(realDisk, where).read(step, 'answer', 100)).toBeUndefined();
  await keepRecord(realDisk, where, step, 'answer', Buffer.from('new'));
  expect(await readFile(other, 'utf8')).toBe('mine');
});
