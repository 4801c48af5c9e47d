import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { realDisk } from './disk.ts';
import { fileRecords } from './file-records.ts';

async function paths() {
  const root = await temporaryFolder();
  return {
    folders: { step: (agent: string, step: number) => join(root, agent, String(step)) },
  };
}

test('a record that is a link is not followed', async () => {
  const where = await paths();
  const step = { agent: 'main', step: 1 };
  const folder = where.folders.step('main', 1);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'stdout'), 'mine');
  await symlink(join(folder, 'stdout'), join(folder, 'answer'));
  const records = fileRecords(realDisk, where);
  expect(Buffer.from((await records.read(step, 'stdout', 100)) ?? []).toString()).toBe('mine');
  expect(await records.read(step, 'answer', 100)).toBeUndefined();
});
