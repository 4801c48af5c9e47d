import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { armRepository } from '../armed-repository.ts';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const FILES = {
  'flow/START.sh': `printf 'one\\nTWO\\nthree\\n' > kept.txt; rm gone.txt; echo '<fork next="END">W</fork>'\n`,
  'flow/W.sh': `printf 'a\\0b' > binary.dat; seq 200000 > large.txt; printf '\\033[31mred\\n' > evil.txt; echo '<result>ok</result>'\n`,
  'flow/END.sh': `while [ ! -e evil.txt ]; do sleep 0.05; done; echo '<result>done</result>'\n`,
  'kept.txt': 'one\ntwo\nthree\n',
  'gone.txt': 'gone\n',
  '.gitignore': '.raymond\n',
};

const git = ({ folder, environment }: Project, ...args: readonly string[]) =>
  execFileSync('git', args, {
    cwd: folder,
    env: { ...environment },
    encoding: 'utf8',
  });

function repository(files: Readonly<Record<string, string>> = FILES): Project {
  const project = newProject(files);
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'config', 'user.name', 'x');
  git(project, 'config', 'user.email', 'x@x');
  git(project, 'add', '--all');
  git(project, 'commit', '-qm', 'x');
  return project;
}

const steps = ['--checkpoints', 'steps'];

test('the files of a run, of an agent and of a step, for people and for programs', async () => {
  const project = repository();
  await command(project, ['flow', '--workflow-id', 'r', ...steps]);
  const mark = join(mkdtempSync(join(tmpdir(), 'raymond-mark-')), 'mark');
  armRepository(project.folder, mark);

  const all = await command(project, ['diff', 'r', '--stat']);
  expect(all.stdout.split('\n').map((line) => line.trim().split(/\s+/))).toEqual([
    ['added', 'binary', 'binary.dat'],
    ['added', '+1', '-0', 'evil.txt'],
    ['deleted', '+0', '-1', 'gone.txt'],
    ['changed', '+1', '-1', 'kept.txt'],
    ['added', 'large', 'large.txt'],
    [''],
  ]);
  expect(all.stderr).toContain('5 files, 2 lines added, 2 removed');

  const { stdout } = await command(project, ['diff', 'r', 'main:1']);
  expect(stdout).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n');
  expect(stdout).not.toContain('evil.txt');
  // What is printed is a patch.
  const other = newProject(FILES);
  execFileSync('git', ['apply', '-'], { cwd: other.folder, input: stdout });
  expect(other.read('kept.txt')).toBe('one\nTWO\nthree\n');
  expect(existsSync(other.path('gone.txt'))).toBe(false);

  const child = JSON.parse((await command(project, ['diff', 'r', 'main_w1', '--json'])).stdout);
  expect(child).toMatchObject({
    agent: 'main_w1',
    folders: [
      {
        folder: project.folder,
        branch: null,
        others: ['main'],
        files: [
          { path: 'binary.dat', omitted: 'binary', patch: null },
          { path: 'evil.txt' },
          { path: 'large.txt', omitted: 'large', patch: null },
        ],
      },
    ],
    unrecorded: 0,
  });
  const shown = await command(project, ['diff', 'r', 'main_w1'], { isTerminal: true });
  expect(shown.stdout).not.toContain('\u001b[31mred');
  expect(shown.stdout).toContain('[31mred');
  // Nothing of the person's configuration was executed.
  expect(existsSync(mark)).toBe(false);
});

test('a worktree has its own part, and the merge is known', async () => {
  const project = repository({
    ...FILES,
    'trees/START.sh': `echo '<fork next="MERGE" worktree="x">W</fork>'\n`,
    'trees/W.sh': `echo new > new.txt; git add new.txt; git commit -qm new; echo '<result>ok</result>'\n`,
    'trees/MERGE.sh': `while [ -z "$(git log main..raymond/t/x)" ]; do sleep 0.05; done; git merge -q raymond/t/x; echo '<result>ok</result>'\n`,
  });
  await command(project, ['trees', '--workflow-id', 't', ...steps]);
  const { folders } = JSON.parse((await command(project, ['diff', 't', '--json'])).stdout);
  expect(folders).toMatchObject([
    { folder: project.folder, branch: null, files: [{ path: 'new.txt', kind: 'added' }] },
    { merged: true, agents: ['main_w1'], files: [{ path: 'new.txt', kind: 'added' }] },
  ]);
});

test('says why there is nothing, and what does not exist', async () => {
  const plain = newProject(FILES);
  await command(plain, ['flow', '--workflow-id', 'p', ...steps]);
  const none = await command(plain, ['diff', 'p']);
  expect(none.stdout).toBe('');
  expect(none.stderr).toContain('No recorded step has changed a file.');
  expect(none.stderr).toContain('Files are recorded in git repositories only.');
  const wrong = await command(plain, ['diff', 'p', 'main_w2']);
  expect(wrong.stderr).toContain('Did you mean main_w1?');
  expect(wrong.code).toBe(64);
  expect((await command(plain, ['diff', 'p', 'main:9'])).stderr).toContain('has no step 9');
});
