// Repositories in the tree of a run may be those of strangers. Git never executes what they name.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forgetFiles, gitFileHistory } from '../../src/execute/git/file-history.ts';
import { unsavedWork } from '../../src/execute/git/unsaved-work.ts';
import { armRepository } from '../armed-repository.ts';
import { world } from './worktree-world.ts';

/** A module of the main repository and a repository that it does not know, both armed. */
function armed() {
  const made = world();
  const { root, main, git } = made;
  const mark = join(root, 'mark');
  for (const name of ['module', 'untracked']) {
    const folder = join(main, name);
    mkdirSync(folder);
    git(folder, 'init', '-q');
    writeFileSync(join(folder, 'inner'), '1');
    git(folder, 'add', 'inner');
    git(folder, 'commit', '-qm', 'x');
  }
  git(main, 'add', 'module');
  git(main, 'commit', '-qm', 'a module');
  for (const name of ['module', 'untracked']) armRepository(join(main, name), mark);
  return { ...made, mark };
}

test('not when files are recorded and restored', async () => {
  const { root, main, mark } = armed();
  const files = gitFileHistory({ run: 'r', folder: join(root, 'files') });
  const first = await files.record(main);
  for (const name of ['file', 'module/inner', 'untracked/inner'])
    writeFileSync(join(main, name), 'changed\n');
  expect(await files.record(main)).not.toBe(first);
  await files.restore(main, first);
  expect(readFileSync(join(main, 'file'), 'utf8')).not.toBe('changed\n');
  await forgetFiles('r', join(root, 'files'));
  expect(existsSync(mark)).toBe(false);
});

test('not when a worktree is made, looked at and removed', async () => {
  const { main, mark, made, worktrees, git } = armed();
  const { agent, worktree, path } = await made();
  mkdirSync(join(path, 'own'));
  git(join(path, 'own'), 'init', '-q');
  armRepository(join(path, 'own'), mark);
  writeFileSync(join(path, 'own', 'new'), 'x');
  expect(await worktrees.look(agent, worktree)).toMatchObject({ dirty: true });
  expect(await worktrees.remove(agent, worktree)).toContain('uncommitted');
  expect((await unsavedWork(main)).length).toBeGreaterThan(0);
  expect(existsSync(mark)).toBe(false);
});

test('not when the repository itself is that of a stranger', async () => {
  const { root, main, mark } = armed();
  armRepository(main, mark);
  const files = gitFileHistory({ run: 'r', folder: join(root, 'files') });
  // Its filter is refused, because without it the files would be recorded in another form.
  await expect(files.record(main)).rejects.toThrow("filter 'evil' failed");
  await forgetFiles('r', join(root, 'files'));
  expect(existsSync(mark)).toBe(false);
});
