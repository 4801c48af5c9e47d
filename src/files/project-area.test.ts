import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectArea } from './project-area.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-area-')));
const at = (path: string) => join(base, path);
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: at(cwd) });

beforeAll(() => {
  for (const folder of ['plain/in', 'repo ü/src', 'other/src', 'home/plain', 'outside'])
    mkdirSync(at(folder), { recursive: true });
  for (const repository of ['repo ü', 'other']) {
    git(repository, 'init', '-q');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'x');
  }
  git('repo ü', 'worktree', 'add', '-q', at('beside'), '-b', 'one');
  git('repo ü', 'worktree', 'add', '-q', at('repo ü/.raymond/worktrees/r/a'), '-b', 'two');
  git('other', 'worktree', 'add', '-q', at('stranger'), '-b', 'three');
  mkdirSync(at('beside/deep/down'), { recursive: true });
  mkdirSync(at('repo ü/.raymond/state'), { recursive: true });
  mkdirSync(at('repo ü/.raymond/runs/r/tasks/a'), { recursive: true });
  // These claim to be worktrees, but the repository does not list them.
  mkdirSync(at('claims'));
  writeFileSync(at('claims/.git'), `gitdir: ${at('repo ü/.git/worktrees/beside')}\n`);
  mkdirSync(at('claims too'));
  writeFileSync(at('claims too/.git'), `gitdir: ${at('repo ü/.git')}\n`);
  mkdirSync(at('linked'));
  symlinkSync(at('repo ü/.git'), at('linked/.git'));
  mkdirSync(at('home/.git'));
  writeFileSync(at('home/.git/HEAD'), '');
});
afterAll(() => rmSync(base, { recursive: true }));

test('a repository that was made or configured after a time is new', async () => {
  const area = await projectArea(at('repo ü'), at('home'));
  const bare = (path: string) => {
    for (const part of ['objects', 'refs'])
      mkdirSync(at(`repo ü/${path}/${part}`), { recursive: true });
    for (const part of ['HEAD', 'config']) writeFileSync(at(`repo ü/${path}/${part}`), '');
  };
  bare('old');
  mkdirSync(at('repo ü/nested/.git/sub'), { recursive: true });
  writeFileSync(at('repo ü/nested/.git/HEAD'), '');
  mkdirSync(at('repo ü/half/refs'), { recursive: true });
  const since = statSync(at('repo ü/nested/.git/HEAD')).ctimeMs;
  const isNew = async (path: string) => (await area.newRepository(at(path), since)) !== undefined;
  for (const path of [
    'repo ü',
    'repo ü/src',
    'repo ü/old',
    'repo ü/nested',
    'repo ü/half',
    'beside',
  ])
    expect([path, await isNew(path)]).toEqual([path, false]);
  await expect.poll(() => Date.now()).toBeGreaterThan(since + 20);
  bare('new');
  mkdirSync(at('repo ü/new/below'));
  mkdirSync(at('repo ü/cloned/.git'), { recursive: true });
  writeFileSync(at('repo ü/cloned/.git/HEAD'), '');
  writeFileSync(at('repo ü/old/config'), 'x');
  git('repo ü', 'worktree', 'add', '-q', at('repo ü/.raymond/worktrees/r/b'), '-b', 'four');
  for (const path of ['new', 'new/below', 'cloned', 'old'])
    expect(await area.newRepository(at(`repo ü/${path}`), since)).toBe(
      at(`repo ü/${path.split('/')[0]}`),
    );
  expect(await isNew('repo ü/.raymond/worktrees/r/b')).toBe(false);
});

describe.each<[string, readonly string[], readonly string[]]>([
  ['plain', ['plain', 'plain/in'], ['.', 'outside', 'plain2', 'repo ü']],
  [
    'repo ü/src',
    [
      'repo ü',
      'repo ü/src',
      'repo ü/.gitignore',
      'beside',
      'beside/deep/down',
      'repo ü/.raymond/worktrees/r/a',
      'repo ü/.raymond/worktrees/r/a/src',
    ],
    [
      'repo ü/.raymond/runs/r/tasks/a',
      '.',
      'outside',
      'other',
      'stranger',
      'claims',
      'claims too',
      'linked',
      'repo ü/.git',
      'repo ü/.git/hooks',
      'repo ü/.GIT/hooks',
      'repo ü/.raymond',
      'repo ü/.raymond/state',
      'repo ü/.raymond/worktrees',
      'repo ü/.raymond/runs/r/source',
      'beside/.git',
    ],
  ],
  ['beside/deep', ['beside', 'repo ü', 'repo ü/.raymond/worktrees/r/a'], ['other', 'outside']],
  ['home/plain', ['home/plain'], ['home', 'home/other']],
])('a run that started in %s', (began, inside, outside) => {
  const area = () => projectArea(at(began), at('home'));
  test.each(inside)('%s is in its project', async (path) => {
    expect(await (await area()).holds(at(path))).toBe(true);
  });
  test.each(outside)('%s is not', async (path) => {
    expect(await (await area()).holds(at(path))).toBe(false);
  });
});
