// Worktrees whose git was stopped or killed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { eventually } from '../eventually.ts';
import { RUN, world } from './worktree-world.ts';

test('a tree that git did not finish is made again, with nothing left of the first attempt', async () => {
  const { main, git, made, make, branches } = world();
  const plan = await made();
  const entry = join(main, '.git', 'worktrees', 'main_w1');
  writeFileSync(join(entry, 'locked'), 'initializing');
  rmSync(join(plan.path, 'file'));
  expect(await make(plan)).toBeUndefined();
  expect(existsSync(join(plan.path, 'file'))).toBe(true);
  // Also when only the entry, or only the branch is left.
  for (const left of [[plan.path], [plan.path, entry]]) {
    writeFileSync(join(entry, 'locked'), 'initializing');
    for (const path of left) rmSync(path, { recursive: true });
    expect(await make(plan)).toBeUndefined();
  }
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(2);
  expect(branches()).toBe(`+ raymond/${RUN}/fix`);
});

test.each(['no files', 'an empty gitdir'])(
  'a part of a worktree that a killed git has left is removed: %s',
  async (what) => {
    const { main, planned, made, make, worktrees, branches } = world();
    const lock = join(main, '.git', 'refs', 'heads', 'raymond', RUN, 'fix.lock');
    const left = async () => {
      mkdirSync(join(lock, '..'), { recursive: true });
      writeFileSync(lock, '');
    };
    await left();
    const plan = await planned();
    // Nothing says that a git of the run has left this lock.
    expect(await make(plan)).toContain('fix.lock');
    mkdirSync(join(main, '.raymond', 'runs', RUN, 'worktrees', plan.agent), { recursive: true });
    const entry = join(main, '.git', 'worktrees', plan.agent);
    mkdirSync(entry, { recursive: true });
    if (what === 'an empty gitdir')
      for (const name of ['gitdir', 'locked']) writeFileSync(join(entry, name), '');
    expect(await make(plan)).toBeUndefined();
    expect(readdirSync(join(main, '.git', 'worktrees'))).toEqual([plan.agent]);
    await made();
    await left();
    expect(await worktrees.remove(plan.agent, plan.worktree)).toBeUndefined();
    expect(branches()).toBe('');
  },
);

const REAL_GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** Puts a program in front of git, which is killed the given number of times at this command. */
function killGit(root: string, command: string, times: number) {
  const bin = join(root, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = `#!/bin/bash
left=$(cat '${root}/kills')
case " $* " in *" ${command} "*) [ "$left" = 0 ] || { echo $((left - 1)) >'${root}/kills'; kill -9 $$; } ;; esac
exec '${REAL_GIT}' "$@"
`;
  writeFileSync(join(bin, 'git'), program, { mode: 0o755 });
  writeFileSync(join(root, 'kills'), String(times));
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
}

test('a git that another process kills is run again', async () => {
  const { root, main, planned, make, worktrees } = world();
  const plan = await planned();
  killGit(root, 'worktree add', 4);
  expect(await make(plan)).toBeUndefined();
  killGit(root, 'status', 4);
  expect(await worktrees.look(plan.agent, plan.worktree)).toMatchObject({ commits: 0 });
  killGit(root, 'worktree remove', 4);
  expect(await worktrees.remove(plan.agent, plan.worktree)).toBeUndefined();
  killGit(root, 'worktree add', 5);
  // The killed git had written its whole entry.
  const entries = join(main, '.git', 'worktrees');
  mkdirSync(join(entries, plan.agent), { recursive: true });
  writeFileSync(join(entries, plan.agent, 'gitdir'), `${plan.path}/.git\n`);
  writeFileSync(join(entries, plan.agent, 'locked'), 'initializing');
  expect(await make(plan)).toMatch(/^git could not make the worktree .*: killed$/);
  expect(readdirSync(entries)).toEqual([]);
});

test('a worktree that git did not finish is removed with its branch', async () => {
  const { main, folder, git, planned, made, worktrees, branches } = world();
  for (const isMoved of [false, true]) {
    const { agent, worktree, path } = await made();
    writeFileSync(join(main, '.git', 'worktrees', 'main_w1', 'locked'), 'initializing');
    // A removal that was killed has moved the tree away.
    if (isMoved) rmSync(path, { recursive: true });
    expect(await worktrees.remove(agent, worktree)).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    expect(branches()).toBe('');
    expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(1);
  }
  // A git that was killed has left a part of its entry.
  const entry = join(main, '.git', 'worktrees', 'main_w1');
  mkdirSync(join(entry, 'logs'), { recursive: true });
  const { agent, worktree } = await planned();
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(entry)).toBe(false);
});

test('a stopped making leaves nothing that runs', async () => {
  const { main, git, planned, worktrees, make } = world();
  const plan = await planned();
  const making = worktrees.make(plan.agent, plan.worktree, plan.cwd);
  making.stop();
  expect(await making.done).toBe('stopped');
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(1);
  expect(await make(plan)).toBeUndefined();
});

test('a making that is stopped while git writes files leaves nothing', async () => {
  const { root, main, folder, git, planned, worktrees, branches } = world();
  git(main, 'config', '--global', 'filter.slow.smudge', `touch '${root}/begun'; sleep 60`);
  writeFileSync(join(main, '.gitattributes'), 'file filter=slow\n');
  git(main, 'add', '.');
  git(main, 'commit', '-q', '-m', 'attributes');
  const { agent, worktree, cwd, path } = await planned();
  const making = worktrees.make(agent, worktree, cwd);
  await eventually('git writes files', () => existsSync(join(root, 'begun')));
  making.stop();
  expect(await making.done).toEqual(expect.any(String));
  expect(existsSync(path)).toBe(false);
  expect(await worktrees.look(agent, worktree)).toMatchObject({ missing: true, commits: 0 });
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(join(main, '.git', 'worktrees'))).toEqual([]);
  expect(branches()).toBe('');
});
