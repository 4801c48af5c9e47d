import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { realDisk } from './disk.ts';
import { findRun, listRuns } from './find-run.ts';
import { findProject, makeProject, runPaths } from './project.ts';

/** Makes folders (ending in /) and files, and gives the folder that holds them. */
async function tree(...names: string[]): Promise<string> {
  const root = await temporaryFolder();
  for (const name of names) {
    const path = join(root, name);
    await mkdir(name.endsWith('/') ? path : join(path, '..'), { recursive: true });
    if (!name.endsWith('/')) await writeFile(path, '');
  }
  return root;
}

describe('the project folder', () => {
  test.each([
    ['is found upward', ['.raymond/', 'a/b/'], '.raymond'],
    ['is found in the nearest folder', ['.raymond/', 'a/.raymond/', 'a/b/'], 'a/.raymond'],
    ['belongs beside .git', ['.git/', 'a/b/'], '.raymond'],
    ['belongs beside the .git file of a worktree', ['a/.git', 'a/b/'], 'a/.raymond'],
    ['is not looked for beyond .git', ['.raymond/', 'a/.git/', 'a/b/'], 'a/.raymond'],
    ['beside .git counts', ['.git/', '.raymond/', 'a/b/'], '.raymond'],
    ['belongs here when there is neither', ['a/b/'], 'a/b/.raymond'],
  ])('%s', async (_name, names, expected) => {
    const root = await tree(...names);
    const project = await findProject(realDisk, join(root, 'a/b'));
    expect(project.folder).toBe(join(root, expected));
  });

  test('is for the owner alone, and only its configuration is for git', async () => {
    const root = await tree('.git/');
    const project = await findProject(realDisk, root);
    expect(await realDisk.kind(project.folder)).toBeUndefined();
    await makeProject(realDisk, project);
    await makeProject(realDisk, project);
    expect((await stat(project.folder)).mode & 0o777).toBe(0o700);
    const rules = (await readFile(join(project.folder, '.gitignore'), 'utf8')).split('\n');
    expect(rules).toEqual(expect.arrayContaining(['*', '!config.toml']));
  });

  test('keeps a .gitignore that somebody wrote, and adds a missing one', async () => {
    const root = await tree('.raymond/config.toml', 'a/.raymond/.gitignore');
    await makeProject(realDisk, await findProject(realDisk, root));
    expect(await readFile(join(root, '.raymond/.gitignore'), 'utf8')).toContain('*');
    await makeProject(realDisk, await findProject(realDisk, join(root, 'a')));
    expect(await readFile(join(root, 'a/.raymond/.gitignore'), 'utf8')).toBe('');
  });

  test('that is a file is an error with a remedy', async () => {
    const root = await tree('.raymond');
    await expect(findProject(realDisk, root)).rejects.toMatchObject({
      code: 'project-not-a-folder',
      remedy: 'Rename or remove the file.',
    });
  });

  test.each([
    ['mkdir', 'EACCES', 'Give your user permission to read and write there'],
    ['mkdir', 'ENOSPC', 'Free some space'],
    ['checkWritable', 'EROFS', 'Make the file system writable'],
  ])('that cannot be used (%s: %s) is an error with a remedy', async (failing, code, cure) => {
    const disk = guarded(realDisk, (operation) =>
      operation === failing ? { error: diskError(code) } : undefined,
    );
    const project = await findProject(disk, await temporaryFolder());
    await expect(makeProject(disk, project)).rejects.toMatchObject({
      code: 'project-unwritable',
      remedy: expect.stringContaining(cure),
    });
  });
});

describe('the folders of a run', () => {
  test('are its own, and a task folder is there when asked for', async () => {
    const root = await temporaryFolder();
    const { folder, folders } = runPaths(await findProject(realDisk, root), 'demo-1');
    expect(folders.step('main', 3)).toBe(join(folder, 'steps/main/3'));
    const task = folders.task('main');
    expect(task).toBe(join(folder, 'tasks/main'));
    expect((await stat(task)).mode & 0o777).toBe(0o700);
    expect(folders.task('main')).toBe(task);
  });

  test('exist for an agent with a name that is too long for a file, and differ', async () => {
    const { folders } = runPaths(await findProject(realDisk, await temporaryFolder()), 'demo-1');
    const long = `main${'_worker1'.repeat(100)}`;
    expect(await realDisk.kind(folders.task(long))).toBe('folder');
    expect(folders.task(`${long}_worker2`)).not.toBe(folders.task(long));
  });
});

describe('the runs', () => {
  const project = async () =>
    findProject(
      realDisk,
      await tree(
        '.raymond/state/demo-11112222.jsonl',
        '.raymond/state/demo-11112222.json',
        '.raymond/state/demo-11112222.snapshot',
        '.raymond/state/demo-11112222.jsonl.broken-1',
        '.raymond/state/.demo-11112222.json.12345678.tmp',
        '.raymond/state/demo-11113333.jsonl',
        '.raymond/state/demo.jsonl',
        '.raymond/state/lost-1.json',
      ),
    );

  test('are those of which anything is left', async () => {
    expect(await listRuns(realDisk, await project())).toEqual([
      'demo',
      'demo-11112222',
      'demo-11113333',
      'lost-1',
    ]);
    expect(await listRuns(realDisk, await findProject(realDisk, await tree()))).toEqual([]);
  });

  test.each([
    ['demo-11112222', 'demo-11112222'],
    ['demo', 'demo'],
    ['demo-11112', 'demo-11112222'],
    ['l', 'lost-1'],
  ])('%s means %s', async (text, id) => {
    expect(await findRun(realDisk, await project(), text)).toBe(id);
  });

  test.each([
    ['demo-1111', 'ambiguous-run', 'demo-11112222, demo-11113333'],
    ['dmeo-11112222', 'no-run', 'demo-11112222'],
    ['zzz', 'no-run', 'raymond list'],
    ['../demo', 'bad-run-id', 'letters'],
  ])('%s is an error that helps', async (text, code, hint) => {
    const error = await findRun(realDisk, await project(), text).catch((thrown) => thrown);
    expect(error).toMatchObject({ code });
    expect(`${error.message} ${error.remedy}`).toContain(hint);
  });
});
