import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cloneOf, keptRuns, ownFolder } from '../../src/world/fleet/runs-of-worker.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { temporaryFolder } from '../journal/fixtures.ts';
import { open, sharedDatabase } from '../postgres/stores.ts';

const newUrl = sharedDatabase();
const RUN = 'work-12345678';

test('a new run gets nothing of an earlier one with the same id', async () => {
  const database = open(await newUrl());
  const around = await surroundings({ stateFolder: await temporaryFolder(), database: 'none' });
  const { folder } = around.workspace(RUN);
  await ownFolder(around, database, RUN, 'first');
  await mkdir(join(folder, 'steps'));
  await mkdir(cloneOf(around, RUN), { recursive: true });
  await writeFile(join(cloneOf(around, RUN), 'file'), '');
  await ownFolder(around, database, RUN, 'first');
  expect(existsSync(join(folder, 'steps'))).toBe(true);
  await ownFolder(around, database, RUN, 'second');
  expect(await readdir(folder)).toEqual(['run-of-database']);
  expect(existsSync(cloneOf(around, RUN))).toBe(false);
  expect(await keptRuns(around)).toEqual([RUN]);
});
