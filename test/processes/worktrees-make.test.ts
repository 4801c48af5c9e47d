// Makes worktrees with the real git.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { RUN, world } from './worktree-world.ts';

const problem = async (of: Promise<{ found: boolean; problem?: string }>) => (await of).problem;

test('a worktree has the files of the base, on its own branch, and main stays clean', async () => {
  const { main, git, made } = world();
  const { path } = await made();
  expect(readFileSync(join(path, 'file'), 'utf8')).toBe('one\n');
  expect(git(path, 'branch', '--show-current')).toBe(`raymond/${RUN}/fix`);
  expect(git(main, 'status', '--porcelain')).toBe('');
});

test('git ignores worktrees although the .gitignore of .raymond does not', async () => {
  const { main, git, made } = world();
  writeFileSync(join(main, '.raymond', '.gitignore'), 'state\nruns\n!.gitignore\n');
  await made();
  expect(git(main, 'status', '--porcelain', '-uall')).toBe('?? .raymond/.gitignore');
});

test('the child is at the same place in the tree', async () => {
  const { main, made } = world();
  const { cwd, path } = await made('main_w1', { directory: join(main, 'süb dir') });
  expect(cwd).toBe(join(path, 'süb dir'));
  expect(existsSync(join(cwd, 'inner'))).toBe(true);
});

test('base names a branch, a tag or a commit, and is kept as a commit', async () => {
  const { main, git, planned, made } = world();
  const first = git(main, 'rev-parse', 'HEAD');
  git(main, 'tag', '-a', 'v1', '-m', 'v1');
  git(main, 'commit', '-q', '--allow-empty', '-m', 'second');
  for (const base of ['v1', 'HEAD~1', first, first.slice(0, 12)])
    expect((await planned('main_w1', { base })).worktree.tree?.base).toBe(first);
  const { worktree, path } = await made('main_w1', { base: 'v1' });
  git(main, 'tag', '-d', 'v1');
  expect(git(path, 'rev-parse', 'HEAD')).toBe(worktree.tree?.base);
});

test('failures outside of a usable repository are clear', async () => {
  const { root, main, git, worktrees } = world();
  const find = (directory: string, base?: string) => problem(worktrees.find(directory, base));
  const folder = (name: string) => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  expect(await find(folder('none'))).toContain('is in none');
  const empty = folder('empty');
  git(empty, 'init', '-q');
  expect(await find(empty)).toContain('has no commit yet');
  git(root, 'clone', '-q', '--bare', main, join(root, 'bare.git'));
  expect(await find(join(root, 'bare.git'))).toContain('bare repository');
  expect(await find(join(main, '.git'))).toContain('folder of git');
  expect(await find(main, 'nothing')).toContain('has no such branch, tag or commit');
  expect(await find(main, 'HEAD:file')).toContain('has no such branch, tag or commit');
  mkdirSync(join(main, 'new'));
  expect(await find(join(main, 'new'))).toContain('the current commit has no such folder');
});

test('without git it says so', async () => {
  const { main, worktrees } = world();
  vi.stubEnv('PATH', '/nowhere');
  expect(await problem(worktrees.find(main, undefined))).toBe('git is not installed');
});

test('a worktree of a worktree, of a detached HEAD and of a submodule', async () => {
  const { root, main, git, made } = world();
  const outer = await made();
  git(outer.path, 'commit', '-q', '--allow-empty', '-m', 'in the worktree');
  const inner = await made('main_w1_w1', { directory: outer.path, name: 'inner' });
  expect(git(inner.path, 'log', '-1', '--format=%s')).toBe('in the worktree');

  git(main, 'checkout', '-q', '--detach');
  await made('main_w2', { name: 'detached' });

  git(root, 'clone', '-q', main, join(root, 'library'));
  git(main, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', join(root, 'library'));
  git(main, 'commit', '-q', '-m', 'submodule');
  const sub = await made('main_w3', { directory: join(main, 'library'), name: 'sub' });
  expect(git(join(main, 'library'), 'worktree', 'list')).toContain(sub.path);
  const whole = await made('main_w4', { name: 'whole' });
  // As git does it: the submodule is not checked out.
  expect(readdirSync(join(whole.path, 'library'))).toEqual([]);
});

test('the worktree of a child can be made after its parent and the parent tree are gone', async () => {
  const { git, main, made, planned, make } = world();
  const outer = await made();
  const inner = await planned('main_w1_w1', { directory: outer.path, name: 'inner' });
  git(main, 'worktree', 'remove', outer.path);
  expect(await make(inner)).toBeUndefined();
});

test('a sparse tree stays sparse, and a place that it lacks is named', async () => {
  const { main, git, made, planned, make } = world();
  mkdirSync(join(main, 'big'));
  writeFileSync(join(main, 'big', 'file'), 'x');
  git(main, 'add', '.');
  git(main, 'commit', '-q', '-m', 'big');
  git(main, 'sparse-checkout', 'set', 'süb dir');
  const { path } = await made();
  expect(readdirSync(path).sort()).toEqual(['.git', '.gitignore', 'file', 'süb dir']);
  mkdirSync(join(main, 'big'));
  const there = await planned('main_w2', { directory: join(main, 'big'), name: 'two' });
  expect(await make(there)).toContain('has no folder big');
});

test('a branch that is taken is not used', async () => {
  const { main, git, planned, make } = world();
  const plan = await planned();
  git(main, 'commit', '-q', '--allow-empty', '-m', 'second');
  git(main, 'branch', `raymond/${RUN}/fix`);
  expect(await make(plan)).toBe(`The branch raymond/${RUN}/fix exists already.`);
});

test('find reports the branches of the run', async () => {
  const { main, git, worktrees } = world();
  git(main, 'branch', `raymond/${RUN}/Größe`);
  git(main, 'branch', 'raymond/other/x');
  expect(await worktrees.find(main, undefined)).toMatchObject({
    taken: new Set([`raymond/${RUN}/größe`]),
  });
});

test('a branch in the way of the namespace is reported in the words of git', async () => {
  const { main, git, planned, make } = world();
  git(main, 'branch', 'raymond');
  expect(await make(await planned())).toMatch(/refs\/heads\/raymond' exists/);
});

test.each([
  ['a file', (path: string) => writeFileSync(path, 'x')],
  ['a folder with files', (path: string) => mkdirSync(join(path, 'x'), { recursive: true })],
])('%s at the path is not touched', async (_, put) => {
  const { folder, planned, make } = world();
  mkdirSync(folder, { recursive: true });
  const plan = await planned();
  put(plan.path);
  expect(await make(plan)).toContain(`${plan.path} exists, but`);
  expect(existsSync(plan.path)).toBe(true);
});

test('a tree that was seen is not made again', async () => {
  const { git, main, made, make } = world();
  const plan = await made();
  git(main, 'worktree', 'remove', plan.path);
  const again = { ...plan, worktree: { ...plan.worktree, wasSeen: true } };
  expect(await make(again)).toBe(
    `The worktree ${plan.path} no longer exists. To restore the commits of its branch: git worktree add ${plan.path} raymond/${RUN}/fix`,
  );
});

test('a tree that exists is adopted with its content', async () => {
  const { made, make } = world();
  const plan = await made();
  writeFileSync(join(plan.path, 'file'), 'work');
  expect(await make(plan)).toBeUndefined();
  expect(readFileSync(join(plan.path, 'file'), 'utf8')).toBe('work');
});

test('many worktrees are made at the same time', async () => {
  const { planned, make, git, main } = world();
  const plans = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => planned(`main_${name}1`, { name })),
  );
  expect(await Promise.all(plans.map(make))).toEqual(plans.map(() => undefined));
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(5);
});
