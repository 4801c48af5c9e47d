// Worktrees in repositories and runs that others may have written.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { RUN, world } from './worktree-world.ts';

test('no hook, monitor or filter of the repository runs', async () => {
  const { root, main, git, worktrees, made, planned, make } = world();
  const owned = join(root, 'owned');
  const evil = join(main, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$0" >>'${owned}'\ncat\n`);
  chmodSync(evil, 0o755);
  for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
    writeFileSync(join(main, '.git', 'hooks', hook), readFileSync(evil), { mode: 0o755 });
  }
  git(main, 'config', 'core.hooksPath', '.git/hooks');
  git(main, 'config', 'core.fsmonitor', evil);
  git(main, 'config', 'core.sshCommand', evil);
  const plan = await made();
  expect(await worktrees.look(plan.agent, plan.worktree)).toMatchObject({ commits: 0 });
  expect(await worktrees.remove(plan.agent, plan.worktree)).toBeUndefined();

  // A filter that is configured but not used disturbs nothing.
  git(main, 'config', 'filter.mine=.smudge', evil);
  git(main, 'config', 'filter.mine=.clean', evil);
  const second = await made();
  await worktrees.remove(second.agent, second.worktree);
  expect(existsSync(owned)).toBe(false);
  writeFileSync(join(main, '.gitattributes'), 'file filter=mine=\n');
  const inert = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
  git(main, ...inert, 'add', '.gitattributes');
  git(main, ...inert, 'commit', '-q', '-m', 'a');
  rmSync(owned, { force: true });
  const third = await planned();
  expect(await make(third)).toMatch(
    /smudge filter mine= failed\. Raymond runs no program.*your own configuration/,
  );
  expect(existsSync(third.path)).toBe(false);
  expect(existsSync(owned)).toBe(false);

  // A filter of the user is used, as with git lfs.
  git(main, 'config', '--global', 'filter.mine=.smudge', 'sed s/one/smudged/');
  git(main, 'config', '--unset', 'filter.mine=.smudge');
  git(main, 'config', '--unset', 'filter.mine=.clean');
  expect(await make(third)).toBeUndefined();
  expect(readFileSync(join(third.path, 'file'), 'utf8')).toBe('smudged\n');
  expect(existsSync(owned)).toBe(false);
});

test('a conditional include could hide a filter, so it is refused', async () => {
  const { main, git, planned, make } = world();
  git(main, 'config', 'includeIf.onbranch:raymond/**.path', '../evil');
  expect(await make(await planned())).toContain('move it to your own configuration');
});

test('variables of git in the environment lead nowhere else', async () => {
  const { root, main, git, made } = world();
  const other = join(root, 'other');
  mkdirSync(other);
  git(other, 'init', '-q');
  vi.stubEnv('GIT_DIR', join(other, '.git'));
  vi.stubEnv('GIT_WORK_TREE', other);
  vi.stubEnv('GIT_INDEX_FILE', join(other, 'index'));
  const { path } = await made();
  vi.stubEnv('GIT_DIR', undefined);
  vi.stubEnv('GIT_WORK_TREE', undefined);
  vi.stubEnv('GIT_INDEX_FILE', undefined);
  expect(git(main, 'worktree', 'list')).toContain(path);
});

test('a tree whose .git leads elsewhere is not believed', async () => {
  const { root, git, made, worktrees } = world();
  const { agent, worktree, path } = await made();
  git(root, 'init', '-q', join(root, 'fake'));
  writeFileSync(join(path, '.git'), `gitdir: ${join(root, 'fake', '.git')}\n`);
  await expect(worktrees.look(agent, worktree)).rejects.toThrow('is not a worktree');
  expect(await worktrees.remove(agent, worktree)).toBe('it is not a worktree');
  expect(existsSync(path)).toBe(true);
});

test.each([
  ['path', { path: '/tmp/elsewhere' }, `raymond/${RUN}/fix`],
  ['branch', {}, 'main'],
  ['branch of another run', {}, 'raymond/other/fix'],
  ['base', { base: '--all' }, `raymond/${RUN}/fix`],
])('a journal of others cannot lead to another %s', async (_, more, branch) => {
  const { made, worktrees } = world();
  const { agent, worktree, cwd, path } = await made();
  if (!worktree.tree) throw new Error('It has a tree.');
  const changed = { ...worktree, branch, tree: { ...worktree.tree, ...more } };
  const refusal = expect.stringContaining('is not a worktree of');
  expect(await worktrees.make(agent, changed, cwd).done).toEqual(refusal);
  expect(await worktrees.remove(agent, changed)).toEqual(refusal);
  await expect(worktrees.look(agent, changed)).rejects.toThrow('is not a worktree of');
  expect(existsSync(path)).toBe(true);
});
