import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { realDisk } from './disk.ts';
import { fileRecords, keepRecord } from './file-records.ts';

async function paths() {
  const root = await temporaryFolder();
  return {
    folders: { step: (agent: string, step: number) => join(root, agent, String(step)) },
  };
}

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
