import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { type Disk, realDisk, type Seen } from './disk.ts';
import { listRuns } from './list-runs.ts';
import { debugFolder, findProject, isDebugFolderOf, makeProject, runPaths } from './project.ts';

/** Creates folders (ending in /) and files, and gives the folder that contains them. */
async function tree(...names: string[]): Promise<string> {
  const root = await temporaryFolder();
  for (const name of names) {
    const path = join(root, name);
    // With any umask, others cannot change it.
    const folder = name.endsWith('/') ? path : join(path, '..');
    await mkdir(folder, { recursive: true, mode: 0o755 });
    if (!name.endsWith('/')) await writeFile(path, '', { mode: 0o644 });
  }
  return root;
}

const HOME = '/home/somebody';
const find = (folder: string, disk = realDisk, home = HOME) =>
  findProject(disk, folder, home, join(folder, 'user'));

/** A disk that reports other facts about some paths. */
const seeing = (change: (path: string, seen: Seen) => Partial<Seen>): Disk => ({
  ...realDisk,
  async look(path) {
    const seen = await realDisk.look(path);
    return seen && { ...seen, ...change(path, seen) };
  },
});
const STRANGER = 54_321;
const FOLDERS = ['.raymond/state/', '.raymond/runs/', '.raymond/debug/'];

describe('the project folder', () => {
  test.each([
    ['is found upward in a repository', ['.git/HEAD', '.raymond/', 'a/b/'], '.raymond'],
    [
      'is found in the nearest folder',
      ['.git/HEAD', '.raymond/', 'a/.raymond/', 'a/b/'],
      'a/.raymond',
    ],
    ['is not found beside an empty .git', ['.git/', 'a/b/'], 'a/b/.raymond'],
    ['belongs beside .git', ['.git/HEAD', 'a/b/'], '.raymond'],
    ['belongs beside the .git file of a worktree', ['a/.git', 'a/b/'], 'a/.raymond'],
    ['is not looked for beyond .git', ['.raymond/', 'a/.git/HEAD', 'a/b/'], 'a/.raymond'],
    ['belongs in the working directory if neither exists', ['a/b/'], 'a/b/.raymond'],
    ['is not looked for above without a repository', ['.raymond/', 'a/b/'], 'a/b/.raymond'],
    ['is found here without a repository', ['.raymond/', 'a/b/.raymond/'], 'a/b/.raymond'],
  ])('%s', async (_name, names, expected) => {
    const root = await tree(...names);
    expect((await find(join(root, 'a/b'))).folder).toBe(join(root, expected));
  });

  test('is not looked for in the home folder, or above it', async () => {
    const root = await tree('.git/HEAD', '.raymond/', 'a/b/');
    const below = await find(join(root, 'a/b'), realDisk, join(root, 'a'));
    expect(below.folder).toBe(join(root, 'a/b/.raymond'));
    const inside = await find(root, realDisk, root);
    expect(inside.folder).toBe(join(root, '.raymond'));
  });

  test.each<[string, string, Partial<Seen>]>([
    ['a folder of another user', '', { uid: STRANGER }],
    ['another file system', '', { device: -1 }],
    ['a repository of another user', '.git', { uid: STRANGER }],
  ])('is not looked for in %s', async (_, name, other) => {
    const root = await tree('.git/HEAD', '.raymond/', 'a/b/');
    const disk = seeing((path) => (path === join(root, name) ? other : {}));
    expect((await find(join(root, 'a/b'), disk)).folder).toBe(join(root, 'a/b/.raymond'));
  });

  test.each(['', 'state', 'runs', 'debug', 'config.toml'])(
    'is refused when .raymond/%s is a link',
    async (name) => {
      const root = await tree('.git/HEAD', 'elsewhere/', 'file');
      if (name !== '') await mkdir(join(root, '.raymond'));
      await symlink(join(root, 'elsewhere'), join(root, '.raymond', name));
      await expect(find(root)).rejects.toMatchObject({
        code: 'project-link',
        message: expect.stringContaining(`${join(root, '.raymond', name)} is a link`),
      });
    },
  );

  test.runIf(process.getuid)('is refused when others can change it', async () => {
    for (const [name, mode] of [
      ['', 0o770],
      ['', 0o702],
      ['state', 0o777],
      ['runs', 0o775],
      ['debug', 0o720],
      ['config.toml', 0o664],
    ] as const) {
      const root = await tree('.raymond/config.toml', ...FOLDERS);
      await chmod(join(root, '.raymond', name), mode);
      await expect(find(root), name).rejects.toMatchObject({
        code: 'project-of-others',
        message: expect.stringContaining(`its mode is ${mode.toString(8).padStart(4, '0')}`),
        remedy: expect.stringContaining(`chmod -R go-w ${join(root, '.raymond')}`),
      });
    }
  });

  test.runIf(process.getuid)('is refused if it belongs to another user', async () => {
    for (const name of ['', 'state', 'runs', 'debug', 'config.toml']) {
      const root = await tree('.raymond/config.toml', ...FOLDERS);
      const disk = seeing((path) =>
        path === join(root, '.raymond', name) ? { uid: STRANGER } : {},
      );
      await expect(find(root, disk), name).rejects.toMatchObject({
        code: 'project-of-others',
        message: expect.stringContaining('it belongs to another user'),
      });
    }
  });

  test('is used if it belongs to the administrator', async () => {
    const root = await tree('.raymond/config.toml');
    const disk = seeing(() => ({ uid: 0 }));
    expect((await find(root, disk)).folder).toBe(join(root, '.raymond'));
  });

  test.runIf(process.getuid)('becomes private when it is used', async () => {
    const root = await tree('.raymond/config.toml', ...FOLDERS);
    for (const name of ['', 'state', 'runs', 'debug'])
      await chmod(join(root, '.raymond', name), 0o755);
    await makeProject(realDisk, await find(root));
    for (const name of ['', 'state', 'runs', 'debug'])
      expect((await stat(join(root, '.raymond', name))).mode & 0o777, name).toBe(0o700);
  });

  test('is private, and git sees only its configuration', async () => {
    const root = await tree('.git/HEAD');
    const project = await find(root);
    expect(await realDisk.kind(project.folder)).toBeUndefined();
    await makeProject(realDisk, project);
    await makeProject(realDisk, project);
    expect((await stat(project.folder)).mode & 0o777).toBe(0o700);
    const rules = (await readFile(join(project.folder, '.gitignore'), 'utf8')).split('\n');
    expect(rules).toEqual(expect.arrayContaining(['*', '!config.toml']));
  });

  test('keeps an existing .gitignore, and adds a missing one', async () => {
    const root = await tree('.raymond/config.toml', 'a/.raymond/.gitignore');
    await makeProject(realDisk, await find(root));
    expect(await readFile(join(root, '.raymond/.gitignore'), 'utf8')).toContain('*');
    await makeProject(realDisk, await find(join(root, 'a')));
    expect(await readFile(join(root, 'a/.raymond/.gitignore'), 'utf8')).toBe('');
  });

  test('is an error with a remedy if it is a file', async () => {
    const root = await tree('.raymond');
    await expect(find(root)).rejects.toMatchObject({
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
    const project = await find(await temporaryFolder(), disk);
    await expect(makeProject(disk, project)).rejects.toMatchObject({
      code: 'project-unwritable',
      remedy: expect.stringContaining(cure),
    });
  });
});

describe('the folders of a run', () => {
  test('belong to it alone, and a task folder exists when requested', async () => {
    const root = await temporaryFolder();
    const { folder, folders, tasks } = runPaths(await find(root), 'demo-1');
    expect(folders.step('main', 3)).toBe(join(folder, 'steps/main/3'));
    const task = folders.task('main');
    expect(task).toBe(join(tasks, 'main'));
    for (const path of [task, tasks, join(root, 'user/tasks')])
      expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect(folders.task('main')).toBe(task);
  });

  test('have their task folders outside of the project, each project its own', async () => {
    const tasksOf = async (root: string) =>
      runPaths(await findProject(realDisk, root, HOME, '/user'), 'demo-1').tasks;
    const [one, other] = [await temporaryFolder(), await temporaryFolder()];
    expect(dirname(dirname(await tasksOf(one)))).toBe('/user/tasks');
    expect(await tasksOf(one)).not.toBe(await tasksOf(other));
    expect(await tasksOf(one)).toBe(await tasksOf(one));
  });

  test('of an earlier version keep the content of their task folders', async () => {
    const root = await tree('.raymond/runs/demo-1/tasks/main/note');
    const { folders, ownTasks } = runPaths(await find(root), 'demo-1');
    expect(await readdir(folders.task('main'))).toEqual(['note']);
    expect(await readdir(ownTasks)).toEqual([]);
  });

  test('a task folder that is a link is not used', async () => {
    const root = await tree('.raymond/runs/demo-1/tasks/other/note');
    const { folders, ownTasks } = runPaths(await find(root), 'demo-1');
    await symlink('/', join(ownTasks, 'main'));
    const task = folders.task('main');
    expect(await readdir(task)).toEqual([]);
    await rm(task, { recursive: true });
    await symlink('/', task);
    expect(await readdir(folders.task('main'))).toEqual([]);
  });

  test('are in the folder of the run if the folder of the user cannot be used', async () => {
    const root = await tree('user');
    const { folders, ownTasks } = runPaths(await find(root), 'demo-1');
    expect(folders.task('main')).toBe(join(ownTasks, 'main'));
    expect(folders.task('main')).toBe(join(ownTasks, 'main'));
  });

  test('exist and differ for agents whose names are too long for a file', async () => {
    const { folders } = runPaths(await find(await temporaryFolder()), 'demo-1');
    const long = `main${'_worker1'.repeat(100)}`;
    expect(await realDisk.kind(folders.task(long))).toBe('folder');
    expect(folders.task(`${long}_worker2`)).not.toBe(folders.task(long));
  });

  test.each(['', '.', '..', '../../x', '/etc', 'a/b', 'a\\b', 'a\0b', `../${'x'.repeat(300)}`])(
    'contain the folders of an agent with the name %j',
    async (agent) => {
      const { steps, tasks, folders } = runPaths(await find(await temporaryFolder()), 'demo-1');
      expect(join(folders.step(agent, 1), '../..')).toBe(steps);
      expect(join(folders.task(agent), '..')).toBe(tasks);
      expect(folders.step(agent, 1)).not.toBe(folders.step(`${agent}x`, 1));
    },
  );
});

describe('the runs', () => {
  const project = async () =>
    find(
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

  test('are those that have a journal or a state file', async () => {
    expect(await listRuns(realDisk, await project())).toEqual([
      'demo',
      'demo-11112222',
      'demo-11113333',
      'lost-1',
    ]);
    expect(await listRuns(realDisk, await find(await tree()))).toEqual([]);
  });
});

test('the name of a debug folder has the run and the time', async () => {
  const project = await findProject(realDisk, '/nowhere', '/', '/user');
  const folder = debugFolder(project, 'demo-1', new Date(2026, 0, 15, 14, 30, 22));
  expect(folder).toBe('/nowhere/.raymond/debug/demo-1_20260115_143022');
  expect(isDebugFolderOf(basename(folder), 'demo-1')).toBe(true);
  expect(isDebugFolderOf(basename(folder), 'demo')).toBe(false);
  expect(isDebugFolderOf('demo-1_2_20260115_143022', 'demo-1')).toBe(false);
});
