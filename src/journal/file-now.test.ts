import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import type { Now } from '../model/now.ts';
import { realDisk } from './disk.ts';
import { publishNow, readNow } from './file-now.ts';

const OWNER = { pid: 7, started: '1', boot: 'b' };
const NOW: Now = { at: 5, agents: [{ agent: 'main', step: 1 }], omitted: 0 };

test('a publication is one file that only the user can read', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'now');
  await publishNow(realDisk, file, NOW, OWNER);
  await publishNow(realDisk, file, { ...NOW, at: 6 }, OWNER);
  expect(await readdir(folder)).toEqual(['now']);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readNow(realDisk, file, OWNER)).toEqual({ ...NOW, at: 6 });
});

test.each([{ pid: 8 }, { started: '2' }, { boot: 'c' }])(
  'a publication of another process than %j is ignored',
  async (other) => {
    const file = join(await temporaryFolder(), 'now');
    await publishNow(realDisk, file, NOW, OWNER);
    expect(await readNow(realDisk, file, { ...OWNER, ...other })).toBeUndefined();
  },
);

const by = (now: unknown) => JSON.stringify({ by: OWNER, now });

test.each([
  ['is empty', ''],
  ['is cut off', by(NOW).slice(0, -3)],
  ['is not JSON', '\0\x1b]0;x\x07'],
  ['is a number', '7'],
  ['has no agents', by({ at: 5, omitted: 0 })],
  ['has an impossible time', by({ ...NOW, at: 1e300 })],
  ['has a text in place of a step', by({ ...NOW, agents: [{ agent: 'main', step: '1' }] })],
  ['is larger than any publication', `${by(NOW)}${' '.repeat(1024 * 1024)}`],
])('a publication that %s is ignored', async (_, text) => {
  const file = join(await temporaryFolder(), 'now');
  await writeFile(file, text);
  expect(await readNow(realDisk, file, OWNER)).toBeUndefined();
});

test('a publication is never read or written through a link', async () => {
  const folder = await temporaryFolder();
  const [file, other] = [join(folder, 'now'), join(folder, 'other')];
  await writeFile(other, by(NOW));
  await symlink(other, file);
  expect(await readNow(realDisk, file, OWNER)).toBeUndefined();
  await publishNow(realDisk, file, { ...NOW, at: 9 }, OWNER);
  expect(await readFile(other, 'utf8')).toBe(by(NOW));
  expect(await readNow(realDisk, file, OWNER)).toMatchObject({ at: 9 });
});

test('a folder in place of the publication is ignored', async () => {
  const file = join(await temporaryFolder(), 'now');
  await mkdir(file);
  expect(await readNow(realDisk, file, OWNER)).toBeUndefined();
});
