// Tests of workflows in a git repository of their own.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { carryOut } from '../command.ts';
import { sandbox } from './sandbox.ts';

const { path, write, read, raymond, environment } = sandbox();

const FLOW = {
  'flow/START.sh': `for n in one two; do echo "<fork worktree=\\"$n\\" n=\\"$n\\">WORK</fork>"; done; echo '<join>MERGE</join>'`,
  'flow/WORK.md': 'Write {{n}}. <result>…</result>',
  'flow/MERGE.sh': `git merge -q --no-edit raymond/$RAYMOND_WORKFLOW_ID/one raymond/$RAYMOND_WORKFLOW_ID/two >&2 || exit 1; echo "<result>$(git branch --format='%(refname:short)' | tr '\\n' ' ')</result>"`,
};

const TEST = `git:
  - { branch: other, message: Another title, files: { title.txt: other } }
files: { title.txt: untitled }
answers:
  WORK: { text: <result>written</result>, does: 'echo "$n" >"$n.txt" && git add . && git commit -qm "Write $n"' }
`;

test('worktrees and merges are real, and the branches can be checked', async () => {
  write({
    ...FLOW,
    'flow/a.test.yaml': `${TEST}expect:
  result: main other raymond/test-00000000/one raymond/test-00000000/two
  files: { one.txt: one, two.txt: two, title.txt: untitled }
  branches:
    main: { commits: [Begin, Write one, Write two], files: { one.txt: one } }
    other: { commits: [Another title], files: { title.txt: other } }
    raymond/test-00000000/one: { files: { one.txt: one } }
    third: none
`,
  });
  expect(await raymond('test', 'flow')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ok {4}a \(\d+ ms\)\n1 passed\n$/),
    stderr: '',
  });
});

test.each([
  ['branches: { main: { commits: [Write three] } }', 'expected  the commit "Write three"'],
  ['branches: { other: none }', 'expected  no branch\n        got       a branch'],
  ['branches: { third: {} }', 'got       no such branch'],
  ['branches: { other: { files: { one.txt: one } } }', 'expect.branches.other.files.one.txt'],
  ['branches: { main: { files: { title.txt: other } } }', 'got       "untitled"'],
])('%s fails the test', async (expected, message) => {
  write({ ...FLOW, 'flow/a.test.yaml': `${TEST}expect: { ${expected} }\n` });
  const { code, stdout } = await raymond('test', 'flow');
  expect(stdout).toContain(message);
  expect(code).toBe(1);
});

test('work that fails is reported', async () => {
  write({ ...FLOW, 'flow/a.test.yaml': TEST.replace('git add .', '(exit 3)') });
  const { code, stdout } = await raymond('test', 'flow');
  expect(stdout).toContain(
    'does of WORK.md, agent main_work1\n        expected  exit code 0\n        got       exit code 3',
  );
  expect(code).toBe(1);
});

test.each([
  ['expect: { branches: { main: none } }', 'Add git: true to the test.'],
  ['git: [{ branch: --all, files: {} }]', 'A test names the branch "--all".'],
])('%s is refused', async (text, message) => {
  write({ ...FLOW, 'flow/a.test.yaml': `${text}\n` });
  const { code, stderr } = await raymond('test', 'flow');
  expect(stderr).toContain(message);
  expect(code).not.toBe(0);
});

test('nothing of the configuration, the hooks and the repository of the user is used', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', path('own'), ...args], { encoding: 'utf8' });
  write({
    ...FLOW,
    'flow/a.test.yaml': TEST,
    'own/file.txt': 'mine',
    'hooks/pre-commit': `#!/bin/sh\necho hook >>'${path('seen')}'\n`,
    'hooks/post-checkout': `#!/bin/sh\necho hook >>'${path('seen')}'\n`,
    'home/.gitconfig': `[core]\n\thooksPath = ${path('hooks')}\n[commit]\n\tgpgSign = true\n[user]\n\tuseConfigOnly = true\n`,
  });
  execFileSync('chmod', ['+x', path('hooks/pre-commit'), path('hooks/post-checkout')]);
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'Mine');
  const before = git('rev-parse', 'HEAD');
  // As in a hook of git that runs tests.
  const hook = {
    ...environment(),
    HOME: path('home'),
    GIT_DIR: path('own/.git'),
    GIT_WORK_TREE: path('own'),
    GIT_INDEX_FILE: path('own/.git/index'),
  };
  expect(await carryOut(['test', 'flow'], path('.'), hook)).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(path('seen'))).toBe(false);
  expect(git('rev-parse', 'HEAD')).toBe(before);
  expect(git('status', '--porcelain') + git('branch', '--format=%(refname)')).toBe(
    'refs/heads/main\n',
  );
  expect(read('own/file.txt')).toBe('mine');
});
