// Forks with worktrees, as a user sees them. Scripts take the part of the agents.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

/** A project whose files are committed. */
function repository(files: Readonly<Record<string, string>>): Project {
  const project = newProject({ 'file.txt': 'one\n', ...files });
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'config', 'user.name', 'x');
  git(project, 'config', 'user.email', 'x@x');
  git(project, 'add', '.');
  git(project, 'commit', '-q', '-m', 'first');
  return project;
}

function git(project: Project, ...args: string[]): string {
  return execFileSync('git', args, { cwd: project.folder, encoding: 'utf8' }).trim();
}

const END = { 'flow/DONE.sh': `echo '<result>parent</result>'` };
const RUN = ['flow', '--workflow-id', 'one'];

const THREE = {
  ...END,
  'flow/START.sh': `for n in clean dirty done; do echo "<fork worktree=\\"$n\\" n=\\"$n\\">WORK</fork>"; done
echo '<goto>DONE</goto>'`,
  'flow/WORK.sh': `pwd >&2; git branch --show-current >&2
case $n in
dirty) echo draft >draft.txt ;;
done) echo two >file.txt; git commit -q -a -m 'Two' ;;
esac
echo "<result>$(pwd) $(git branch --show-current)</result>"`,
};

test('a branch of its own is known although git is just making another worktree', async () => {
  const project = repository({
    'flow/START.sh': `echo '<fork worktree="own">WORK</fork><join>DONE</join>'`,
    'flow/WORK.sh': `git checkout -q -b elsewhere; echo two >file.txt; git commit -q -a -m Two
half="$(git rev-parse --git-common-dir)/worktrees/half"; mkdir "$half"; : >"$half/commondir"
echo "$PWD/half/.git" >"$half/gitdir"; echo '<result>ok</result>'`,
    'flow/DONE.sh': `rm -r .git/worktrees/half; echo "<result>$RAYMOND_RESULT</result>"`,
  });
  const { code, stdout, stderr } = await command(project, RUN);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(JSON.parse(stdout)).toMatchObject([{ branch: 'elsewhere', commits: 1, dirty: false }]);
});

test('children work in their own worktrees; one without work is removed with its branch', async () => {
  const project = repository(THREE);
  const { code, stderr } = await command(project, RUN);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const tree = (agent: string) => project.path('.raymond/worktrees/one', agent);
  const shown = JSON.parse((await command(project, ['show', 'one', '--json'])).stdout);
  const agents = shown.agents.filter(({ worktree }: { worktree?: object }) => worktree);
  type Ended = { readonly status: { readonly result: { readonly text: string } } };
  expect(agents.map(({ status }: Ended) => status.result.text)).toEqual([
    `${tree('main_work1')} raymond/one/clean`,
    `${tree('main_work2')} raymond/one/dirty`,
    `${tree('main_work3')} raymond/one/done`,
  ]);
  expect(agents.map(({ worktree }: { worktree: object }) => worktree)).toMatchObject([
    { branch: 'raymond/one/clean', fate: 'removed', commits: 0, dirty: false },
    { branch: 'raymond/one/dirty', fate: 'kept', commits: 0, dirty: true },
    { branch: 'raymond/one/done', fate: 'kept', commits: 1, dirty: false },
  ]);
  const { stdout } = await command(project, ['show', 'one']);
  expect(stdout).toContain('WORKTREE OF');
  expect(stdout.replace(/ +/g, ' ')).toContain(
    `main_work2 raymond/one/dirty 0 uncommitted ${tree('main_work2')}`,
  );
  expect(stdout.replace(/ +/g, ' ')).toContain(
    `main_work3 raymond/one/done 1 - ${tree('main_work3')}`,
  );
  expect(stdout).not.toContain('raymond/one/clean 0');
  expect(existsSync(tree('main_work1'))).toBe(false);
  expect(project.read('.raymond/worktrees/one/main_work2/draft.txt')).toBe('draft\n');
  expect(project.read('.raymond/worktrees/one/main_work3/file.txt')).toBe('two\n');
  expect(project.read('file.txt')).toBe('one\n');
  expect(git(project, 'branch', '--format=%(refname:short)').split('\n')).toEqual([
    'main',
    'raymond/one/dirty',
    'raymond/one/done',
  ]);
  expect(git(project, 'status', '--porcelain', '-uall')).toBe('');
});

test('a fork without a worktree costs no call of git', async () => {
  const project = repository({ ...END, 'flow/WORK.sh': `echo '<result></result>'` });
  project.write('bin/git', '#!/bin/sh\ntouch "$CALLED"\n');
  chmodSync(project.path('bin/git'), 0o755);
  const called = project.path('called');
  const env = { PATH: `${project.path('bin')}:${process.env.PATH}`, CALLED: called };
  const calls = async (fork: string) => {
    project.write('flow/START.sh', `echo '${fork}<join>DONE</join>'`);
    rmSync(called, { force: true });
    const { code } = await command(project, ['flow'], { env });
    return [code, existsSync(called)];
  };
  expect(await calls('<fork>WORK</fork>')).toEqual([0, false]);
  expect(await calls('<fork worktree="x">WORK</fork>')).toEqual([1, true]);
});

test('outside of a repository the fork fails with a remedy, and no child starts', async () => {
  const project = newProject(THREE);
  rmSync(project.path('.git'), { recursive: true });
  const { code, stderr } = await command(project, RUN);
  expect(code).toBe(1);
  expect(stderr).toContain('A worktree needs a git repository');
  expect(existsSync(project.path('.raymond/worktrees'))).toBe(false);
});

test('a worktree that cannot be made fails its child only, and a resume tries again', async () => {
  const project = repository({
    ...END,
    'flow/START.sh': `git branch raymond; echo '<fork worktree="x" next="DONE">WORK</fork>'`,
    'flow/WORK.sh': `echo "<result>$(git branch --show-current)</result>"`,
  });
  const failed = await command(project, RUN);
  expect(failed).toMatchObject({ code: 1, stdout: 'parent\n' });
  expect(failed.stderr).toContain('git could not make the worktree');
  git(project, 'branch', '-D', 'raymond');
  expect(await command(project, ['resume', 'one'])).toMatchObject({ code: 0 });
  expect(existsSync(project.path('.raymond/worktrees/one'))).toBe(false);
});

test('a worktree that a person removed is not made again in the middle of the work', async () => {
  const project = repository({
    ...END,
    'flow/START.sh': `echo '<fork worktree="x" next="DONE">WORK</fork>'`,
    'flow/WORK.sh': `git commit -q --allow-empty -m work; echo '<goto>MORE</goto>'`,
    'flow/MORE.sh': `[ -e "${'$'}RAYMOND_TASK_FOLDER/again" ] || { touch "${'$'}RAYMOND_TASK_FOLDER/again"; exit 1; }
echo "<result>$(git log --format=%s -1)</result>"`,
  });
  await command(project, RUN);
  const tree = project.path('.raymond/worktrees/one/main_work1');
  git(project, 'worktree', 'remove', tree);
  const lost = await command(project, ['resume', 'one']);
  expect(lost.code).toBe(1);
  expect(lost.stderr).toContain(`The worktree ${tree} no longer exists.`);
  git(project, 'worktree', 'add', '-q', tree, 'raymond/one/x');
  expect(await command(project, ['resume', 'one'])).toMatchObject({ code: 0 });
  expect(existsSync(tree)).toBe(true);
});

test('a worktree that somebody deleted or replaced is reported wherever a person looks', async () => {
  const project = repository(THREE);
  await command(project, RUN);
  const tree = (agent: string) => project.path('.raymond/worktrees/one', agent);
  rmSync(tree('main_work2'), { recursive: true });
  rmSync(tree('main_work3'), { recursive: true });
  project.write('.raymond/worktrees/one/main_work3/other', 'x');
  const gone = `The worktree ${tree('main_work2')} of main_work2 no longer exists. What was not committed in it is lost. Its commits are on the branch raymond/one/dirty.`;
  const replaced = `In place of the worktree ${tree('main_work3')} of main_work3 is something else: it is not a worktree.`;
  // The second time, everything comes from the index.
  for (const time of ['first', 'second']) {
    const { stderr } = await command(project, ['list']);
    expect(stderr, time).toContain('2 worktrees of one were deleted or replaced.');
    const { stdout } = await command(project, ['list', '--json']);
    expect(JSON.parse(stdout), time).toMatchObject({ lost_worktrees: 2 });
  }
  for (const args of [
    ['show', 'one'],
    ['prune', 'one', '--dry-run'],
    ['prune', 'one'],
  ]) {
    const { stdout, stderr } = await command(project, args);
    expect(stdout + stderr).toContain(gone);
    expect(stdout + stderr).toContain(replaced);
  }
  expect(existsSync(tree('main_work3'))).toBe(true);
});

test('a worktree that is deleted while its child works is reported, and not made again', async () => {
  const project = repository({
    ...END,
    'flow/START.sh': `echo '<fork worktree="w" next="DONE">WORK</fork>'`,
    'flow/WORK.sh': `echo draft >draft.txt; rm -rf "$PWD"; echo '<goto>MORE</goto>'`,
    'flow/MORE.sh': `touch made-again; echo '<result>more</result>'`,
    'last/START.sh': `echo '<fork worktree="w" next="DONE">WORK</fork>'`,
    'last/WORK.sh': `echo draft >draft.txt; rm -rf "$PWD"; echo '<result>over</result>'`,
    'last/DONE.sh': END['flow/DONE.sh'],
  });
  const tree = project.path('.raymond/worktrees/one/main_work1');
  const first = await command(project, RUN);
  expect(first.stderr).toContain(
    'its worktree no longer exists: what was not committed there is lost',
  );
  expect(first.stderr).toContain(`The worktree ${tree} of main_work1 no longer exists.`);
  expect(first.code).toBe(1);
  expect(existsSync(tree)).toBe(false);
  const resumed = await command(project, ['resume', 'one']);
  expect(resumed.stderr).toContain(`The worktree ${tree} of main_work1 no longer exists.`);
  expect(resumed.code).toBe(1);

  const last = await command(project, ['last', '--workflow-id', 'two']);
  expect(last.stderr).toContain('its worktree no longer exists');
  expect(last.stderr).toContain('two/main_work1 of main_work1 no longer exists.');
  expect(last.stderr).not.toContain('has no work and was removed');
  expect((await command(project, ['show', 'two'])).stdout).toContain('no longer exists.');
});

test('a child in a worktree forks children with worktrees, from its own commit', async () => {
  const project = repository({
    ...END,
    'flow/START.sh': `echo '<fork worktree="true" next="DONE">OUTER</fork>'`,
    'flow/OUTER.sh': `git commit -q --allow-empty -m outer
echo '<fork worktree="true" next="DONE">INNER</fork>'`,
    'flow/INNER.sh': `git log --format=%s -1 >"$RAYMOND_TASK_FOLDER/log"; pwd >>"$RAYMOND_TASK_FOLDER/log"
echo '<result></result>'`,
  });
  expect(await command(project, RUN)).toMatchObject({ code: 0 });
  const inner = 'main_outer1_inner1';
  expect(project.lines(project.task('one', inner), 'log')).toEqual([
    'outer',
    project.path('.raymond/worktrees/one', inner),
  ]);
  expect(git(project, 'branch', '--list', 'raymond/*')).toBe('+ raymond/one/main_outer1');
});

test('a child in another workflow has a worktree, at the place where the run was started', async () => {
  const project = repository({
    ...END,
    'sub/folder/file.txt': 'one\n',
    'flow/START.sh': `echo '<fork-workflow worktree="other" item="a">../other</fork-workflow><join>DONE</join>'`,
    'flow/DONE.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
    'other/START.sh': `echo "$item" >>file.txt; git commit -q -a -m other; echo '<goto>MORE</goto>'`,
    'other/MORE.sh': 'echo "<result>$(pwd) $(git branch --show-current)</result>"',
  });
  const args = ['../../flow', '--workflow-id', 'one'];
  const { code, stdout, stderr } = await command(project, args, {
    cwd: project.path('sub/folder'),
  });
  expect(code, stderr).toBe(0);
  const [child] = JSON.parse(stdout);
  const tree = project.path('.raymond/worktrees/one', child.agent);
  expect(child).toMatchObject({
    status: 'ended',
    state: 'MORE.sh',
    result: `${tree}/sub/folder raymond/one/other`,
    variables: { item: 'a' },
    worktree: tree,
    branch: 'raymond/one/other',
    commits: 1,
    dirty: false,
  });
  expect(git(project, 'show', 'raymond/one/other:sub/folder/file.txt')).toBe('one\na');
  expect(project.read('sub/folder/file.txt')).toBe('one\n');
});

test('a repository with a submodule and a sparse tree: a child has what git gives it', async () => {
  const project = repository({
    ...END,
    'library/code.txt': 'x\n',
    'big/file.txt': 'x\n',
    'flow/START.sh': `echo '<fork worktree="true">WORK</fork><join>DONE</join>'`,
    'flow/WORK.sh': `ls >"$RAYMOND_TASK_FOLDER/files"; ls module >"$RAYMOND_TASK_FOLDER/module"
echo '<result></result>'`,
  });
  const elsewhere = `${project.folder}-library`;
  git(project, 'clone', '-q', project.folder, elsewhere);
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  git(project, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', elsewhere, 'module');
  git(project, 'commit', '-q', '-m', 'submodule');
  git(project, 'sparse-checkout', 'set', 'flow', 'library');
  expect(await command(project, RUN)).toMatchObject({ code: 0 });
  const task = project.task('one', 'main_work1');
  expect(project.lines(task, 'files')).not.toContain('big');
  expect(project.lines(task, 'files')).toEqual(expect.arrayContaining(['library', 'module']));
  expect(project.lines(task, 'module')).toEqual([]);
  // It had no work, so nothing is left.
  expect(existsSync(project.path('.raymond/worktrees/one'))).toBe(false);
  expect(git(project, 'branch', '--list', 'raymond/*')).toBe('');
});

test('a worktree in which another agent still works stays', async () => {
  const project = repository({
    ...END,
    'flow/START.sh': `echo '<fork worktree="true" next="DONE">OUTER</fork>'`,
    'flow/OUTER.sh': `echo '<fork next="DONE">INNER</fork>'`,
    'flow/INNER.sh': `until [ -n "$(grep agent-ended ../../../state/one.jsonl | grep '"agent":"main_outer1"')" ]; do sleep 0.05; done
cat file.txt >"$RAYMOND_TASK_FOLDER/seen"; echo '<result></result>'`,
  });
  expect(await command(project, RUN)).toMatchObject({ code: 0 });
  expect(project.lines(project.task('one', 'main_outer1_inner1'), 'seen')).toEqual(['one']);
});

test('a rehearsal makes no worktrees and says so', async () => {
  const project = repository({
    ...END,
    'flow/START.md':
      '---\nallowed_transitions: [{tag: fork, target: WORK, next: DONE, worktree: x}]\n---\nGo.',
    'flow/WORK.md': '---\nallowed_transitions: [{tag: result}]\n---\nWork.',
  });
  const { code, stderr } = await command(project, [...RUN, '--rehearse']);
  expect(code).toBe(0);
  expect(stderr).toContain('forked by main at WORK.md, worktree not created (raymond/one/x)');
  expect(existsSync(project.path('.raymond/worktrees'))).toBe(false);
  expect(git(project, 'branch', '--list', 'raymond/*')).toBe('');
});

test('a link in place of the folder of worktrees is refused', async () => {
  const project = repository(THREE);
  execFileSync('sh', ['-c', 'mkdir -m 700 .raymond && ln -s /tmp .raymond/worktrees'], {
    cwd: project.folder,
  });
  const { code, stderr } = await command(project, RUN);
  expect(code).toBe(1);
  expect(stderr).toContain('.raymond/worktrees is a link');
});
