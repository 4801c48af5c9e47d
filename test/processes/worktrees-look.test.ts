// Looks at the work in worktrees, with the real git.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RUN, world } from './worktree-world.ts';

test('a look counts commits and sees changes', async () => {
  const { main, git, made, worktrees } = world();
  const { agent, worktree, path } = await made();
  const look = () => worktrees.look(agent, worktree);
  const branch = `raymond/${RUN}/fix`;
  expect(await look()).toEqual({ branch, commits: 0, dirty: false });
  writeFileSync(join(path, 'ignored'), 'x');
  expect(await look()).toEqual({ branch, commits: 0, dirty: false });
  writeFileSync(join(path, 'new'), 'x');
  expect(await look()).toEqual({ branch, commits: 0, dirty: true });
  git(path, 'add', '.');
  expect(await look()).toEqual({ branch, commits: 0, dirty: true });
  git(path, 'commit', '-q', '-m', 'one');
  git(main, 'commit', '-q', '--allow-empty', '-m', 'elsewhere');
  expect(await look()).toEqual({ branch, commits: 1, dirty: false });
  const head = git(path, 'rev-parse', 'HEAD');
  git(path, 'checkout', '-q', '-b', 'agent/own');
  expect(await look()).toEqual({ branch: 'agent/own', commits: 1, dirty: false });
  git(path, 'checkout', '-q', '--detach');
  expect(await look()).toEqual({ branch: head, commits: 1, dirty: false });
  git(path, 'checkout', '-q', worktree.tree?.base ?? '');
  // The commit is still on the branch.
  expect(await look()).toMatchObject({ commits: 1, dirty: false });
  rmSync(path, { recursive: true });
  expect(await look()).toEqual({ branch, commits: 1, dirty: false, missing: true });
});

test('a branch of which a script could not use the name is reported as a commit', async () => {
  const { main, git, made, worktrees } = world();
  const { agent, worktree, path } = await made();
  git(path, 'commit', '-q', '--allow-empty', '-m', 'one');
  const head = git(path, 'rev-parse', 'HEAD');
  git(main, 'update-ref', 'refs/heads/--upload-pack=x', head);
  writeFileSync(join(main, '.git/worktrees/main_w1/HEAD'), 'ref: refs/heads/--upload-pack=x\n');
  expect(await worktrees.look(agent, worktree)).toMatchObject({ branch: head, commits: 1 });
});
