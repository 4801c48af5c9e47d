import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { locate } from './locate.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'raymond-locate-'));
  await mkdir(join(cwd, 'Prüfung neu'));
  await mkdir(join(cwd, 'odd.zip'));
  for (const file of ['Prüfung neu/START.md', 'Prüfung neu/A.sh', 'flow.zip', 'flow.yaml']) {
    await writeFile(join(cwd, file), '');
  }
  for (const file of ['short.YML', 'notes.txt', 'classify.md'])
    await writeFile(join(cwd, file), '');
});
afterAll(() => rm(cwd, { recursive: true }));

test.each([
  // path, kind, path of the source, entry
  ['Prüfung neu', 'folder', 'Prüfung neu', undefined],
  ['Prüfung neu/', 'folder', 'Prüfung neu', undefined],
  ['./x/../Prüfung neu', 'folder', 'Prüfung neu', undefined],
  ['Prüfung neu/START.md', 'folder', 'Prüfung neu', 'START.md'],
  ['Prüfung neu/START', 'folder', 'Prüfung neu', 'START'],
  ['Prüfung neu/A', 'folder', 'Prüfung neu', 'A'],
  ['classify.md', 'folder', '.', 'classify.md'],
  ['classify', 'folder', '.', 'classify'],
  ['.', 'folder', '.', undefined],
  ['odd.zip', 'folder', 'odd.zip', undefined],
  ['flow.zip', 'zip', 'flow.zip', undefined],
  ['flow.zip/A', 'zip', 'flow.zip', 'A'],
  ['flow.zip/A.md', 'zip', 'flow.zip', 'A.md'],
  ['flow.yaml', 'yaml', 'flow.yaml', undefined],
  ['flow.yaml/A', 'yaml', 'flow.yaml', 'A'],
  ['short.YML', 'yaml', 'short.YML', undefined],
])('%s is a %s', async (path, kind, source, entry) => {
  const location = await locate(path, cwd);
  expect(location).toEqual({ kind, path: join(cwd, source), entry, ref: join(cwd, path, '.') });
  expect(await locate(location.ref, '/')).toEqual(location);
});

test.each([
  ['nowhere', 'no-workflow', 'Name a folder that contains START.md.'],
  ['nowhere/START', 'no-workflow', 'Name a folder that contains START.md.'],
  ['', 'no-workflow', 'Name a folder that contains START.md.'],
  ['a\0b', 'no-workflow', 'Name a folder that contains START.md.'],
  ['x'.repeat(5_000), 'no-workflow', 'Name a folder that contains START.md.'],
  ['clasify', 'no-workflow', 'Did you mean classify.md?'],
  ['clasify.md', 'no-workflow', 'Did you mean classify.md?'],
  ['Prufung neu/START', 'no-workflow', 'Did you mean Prüfung neu?'],
  ['Prüfung neu/STRAT', 'no-workflow', 'Did you mean START.md?'],
  ['flow.zpi', 'no-workflow', 'Did you mean flow.zip?'],
  ['flow.zip/a/b', 'no-workflow', 'Name a folder'],
  ['notes.txt', 'not-a-workflow', 'Name a folder, a .zip'],
  ['notes.txt/A', 'no-workflow', 'Name a folder'],
])('%s is refused', async (path, code, remedy) => {
  await expect(locate(path, cwd)).rejects.toMatchObject({
    name: 'UserError',
    code,
    remedy: expect.stringContaining(remedy),
  });
});

test('the error shows the path as it was written', async () => {
  await expect(locate('nowhere/', cwd)).rejects.toThrow('There is no workflow at nowhere/.');
});

test('a path that leads in a circle is reported', async () => {
  await symlink('circle', join(cwd, 'circle'));
  await expect(locate('circle', cwd)).rejects.toMatchObject({ code: 'unreadable-workflow' });
});
