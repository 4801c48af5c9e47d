// Removes worktrees with the real git.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RUN, world } from './worktree-world.ts';

test('a worktree without work is removed with its branch', async () => {
  const { main, folder, git, made, worktrees, branches } = world();
  const { agent, worktree, path } = await made();
  writeFileSync(join(path, 'ignored'), 'x');
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
  expect(branches()).toBe('');
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(1);
  // Once more, after a crash.
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
});

test.each<[string, string, (path: string, git: (...args: string[]) => string) => void]>([
  ['an untracked file', 'uncommitted changes', (path) => writeFileSync(join(path, 'n'), '')],
  ['a changed file', 'uncommitted changes', (path) => appendFileSync(join(path, 'file'), 'x')],
  ['a commit', 'commits', (_, git) => git('commit', '-q', '--allow-empty', '-m', 'x')],
  [
    'a commit on another branch',
    'commits',
    (_, git) => {
      git('checkout', '-q', '-b', 'own');
      git('commit', '-q', '--allow-empty', '-m', 'x');
    },
  ],
  [
    'a commit from which HEAD was moved away',
    'commits',
    (_, git) => {
      git('commit', '-q', '--allow-empty', '-m', 'x');
      git('checkout', '-q', '--detach', 'HEAD~1');
    },
  ],
  ['a lock', 'it is locked', (path, git) => void git('worktree', 'lock', path)],
  [
    'a repository in an ignored folder',
    'ignored has',
    (path, git) => {
      git('init', '-q', join(path, 'ignored'));
      writeFileSync(join(path, 'ignored', 'x'), '');
    },
  ],
])('a worktree with %s stays', async (_, why, prepare) => {
  const { git, made, worktrees, branches } = world();
  const { agent, worktree, path } = await made();
  prepare(path, (...args) => git(path, ...args));
  expect(await worktrees.remove(agent, worktree)).toContain(why);
  expect(existsSync(join(path, '.git'))).toBe(true);
  expect(branches()).toContain(`raymond/${RUN}/fix`);
});

test('a worktree with a submodule stays, as git does it, and changes in the submodule are seen', async () => {
  const { root, main, git, made, worktrees } = world();
  git(root, 'clone', '-q', main, join(root, 'library'));
  const allow = ['-c', 'protocol.file.allow=always'];
  git(main, ...allow, 'submodule', 'add', '-q', join(root, 'library'));
  git(main, 'commit', '-q', '-m', 'submodule');
  const { agent, worktree, path } = await made();
  git(path, ...allow, 'submodule', 'update', '-q', '--init');
  expect(await worktrees.look(agent, worktree)).toMatchObject({ dirty: false });
  expect(await worktrees.remove(agent, worktree)).toBe('it has submodules');
  writeFileSync(join(path, 'library', 'new'), 'x');
  expect(await worktrees.look(agent, worktree)).toMatchObject({ dirty: true });
});

test('a branch that another tree uses stays', async () => {
  const { main, root, git, made, worktrees, branches } = world();
  const { agent, worktree, path } = await made();
  git(path, 'checkout', '-q', '--detach');
  git(main, 'worktree', 'add', '-q', join(root, 'mine'), `raymond/${RUN}/fix`);
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  expect(branches()).toContain('fix');
});
