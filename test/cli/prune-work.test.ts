// prune keeps unsaved work, and deletes it only after a yes.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const TREES = {
  'trees/START.sh': `git init -q . 2>/dev/null
git -c user.name=x -c user.email=x@x commit -q --allow-empty -m first
git worktree add -q -b "task-$RAYMOND_WORKFLOW_ID" "$RAYMOND_TASK_FOLDER/tree"
echo '<result>made</result>'`,
};

/** Two completed runs, each with a worktree in its task folder; one of them with unsaved work. */
async function withWork(): Promise<{ project: Project; tree: string }> {
  const project = newProject(TREES);
  for (const run of ['clean', 'dirty'])
    expect(await command(project, ['trees', '--workflow-id', run])).toMatchObject({ code: 0 });
  const tree = project.path(project.task('dirty'), 'tree');
  writeFileSync(`${tree}/report.md`, 'of days');
  return { project, tree };
}

test('a run with work that exists nowhere else is kept, and the work is named', async () => {
  const { project, tree } = await withWork();
  const dry = await command(project, ['prune', '--dry-run']);
  expect(dry).toMatchObject({ code: 1, stdout: 'would remove clean\n' });
  const { code, stdout, stderr } = await command(project, ['prune', '--yes']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'removed clean\n' });
  expect(stderr).toContain(`${tree} has uncommitted changes`);
  expect(readFileSync(`${tree}/report.md`, 'utf8')).toBe('of days');
  expect((await command(project, ['list'])).stdout).toContain('dirty');
  const json = await command(project, ['prune', 'dirty', '--json']);
  expect(JSON.parse(json.stdout)).toEqual({
    workflow_id: 'dirty',
    removed: false,
    kept: [{ path: tree, why: 'has uncommitted changes' }],
  });
});

test('it is deleted only after a person agrees', async () => {
  const { project, tree } = await withWork();
  const discard = ['prune', 'dirty', '--discard-worktrees'];
  const unasked = await command(project, discard);
  expect(unasked.code).toBe(64);
  expect(unasked.stderr).toContain('add --yes');
  expect(unasked.stderr.split('This work will be deleted').length).toBe(2);

  const no = atTerminal(project, discard);
  await eventually('it asks', () => no.screen().includes('Delete it?'));
  expect(no.screen().split(`${tree} has uncommitted changes`).length).toBe(2);
  no.type('no\r');
  expect(await no.ended).toBe(1);
  expect(existsSync(tree)).toBe(true);

  const yes = atTerminal(project, discard);
  await eventually('it asks', () => yes.screen().includes('Delete it?'));
  yes.type('yes\r');
  expect(await yes.ended).toBe(0);
  expect(existsSync(project.path('.raymond/runs/dirty'))).toBe(false);
  expect(existsSync(tree)).toBe(false);
});

const FORKS = {
  'forks/START.sh': `for n in merged own dirty locked; do echo "<fork worktree=\\"$n\\" n=\\"$n\\">WORK</fork>"; done
echo '<join>DONE</join>'`,
  'forks/WORK.sh': `echo "$n" >"$n.txt"
[ "$n" = dirty ] || { git add . && git commit -q -m "$n"; }
echo "<result></result>"`,
  'forks/DONE.sh': 'echo "<result></result>"',
};

/** A completed run with four worktrees: merged, with unmerged commits, dirty, and locked. */
async function withTrees() {
  const project = newProject(FORKS);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: project.folder, encoding: 'utf8' }).trim();
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'x');
  git('config', 'user.email', 'x@x');
  git('add', 'forks');
  git('commit', '-q', '-m', 'first');
  expect(await command(project, ['forks', '--workflow-id', 'one'])).toMatchObject({ code: 0 });
  const tree = (n: number) => project.path(`.raymond/worktrees/one/main_work${n}`);
  for (const name of ['merged', 'locked']) git('merge', '-q', `raymond/one/${name}`);
  git('worktree', 'lock', tree(4));
  const branches = () => git('branch', '--list', 'raymond/*', '--format=%(refname:short)');
  return { project, git, tree, branches };
}

test('prune removes worktrees whose commits are elsewhere, keeps the others and says where they are', async () => {
  const { project, git, tree, branches } = await withTrees();
  const dry = await command(project, ['prune', '--dry-run']);
  expect(dry).toMatchObject({ code: 1, stdout: `would remove the worktree ${tree(1)}\n` });
  expect(existsSync(tree(1))).toBe(true);

  const { code, stdout, stderr } = await command(project, ['prune', '--yes']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: `removed the worktree ${tree(1)}\n` });
  expect(stderr).toContain(`${tree(2)} has commits that only its branch raymond/one/own has`);
  expect(stderr).toContain(`${tree(3)} has uncommitted changes`);
  expect(stderr).toContain(`${tree(4)} is locked`);
  expect(existsSync(tree(1))).toBe(false);
  expect(branches().split('\n')).toEqual(
    ['dirty', 'locked', 'own'].map((name) => `raymond/one/${name}`),
  );
  expect((await command(project, ['list'])).stdout).toContain('one');

  git('merge', '-q', 'raymond/one/own');
  git('worktree', 'unlock', tree(4));
  await command(project, ['prune', '--yes']);
  expect(git('worktree', 'list').split('\n')).toHaveLength(2);
  execFileSync('git', ['clean', '-fdq'], { cwd: tree(3) });
  expect(await command(project, ['prune', '--yes'])).toMatchObject({
    code: 0,
    stdout: `removed the worktree ${tree(3)}\nremoved one\n`,
  });
  expect(branches()).toBe('');
  expect(existsSync(project.path('.raymond/worktrees/one'))).toBe(false);
  expect(git('worktree', 'list').split('\n')).toHaveLength(1);
});

test('--discard-worktrees names what it deletes; a locked worktree stays', async () => {
  const { project, git, tree, branches } = await withTrees();
  const { code, stderr } = await command(project, ['prune', 'one', '--discard-worktrees', '--yes']);
  expect(code).toBe(1);
  const named = stderr.slice(0, stderr.indexOf('kept one'));
  expect(named).toContain('This work will be deleted');
  expect(named).toContain(`${tree(2)} has commits that only its branch raymond/one/own has`);
  expect(named).toContain(`${tree(3)} has uncommitted changes`);
  expect(named).not.toContain(tree(4));
  expect(branches()).toBe('raymond/one/locked');
  expect(git('worktree', 'list').split('\n')).toHaveLength(2);
  git('worktree', 'unlock', tree(4));
  expect(await command(project, ['prune', 'one'])).toMatchObject({ code: 0 });
});

test('worktrees of a run whose journal is damaged are also inspected', async () => {
  const { project, git, tree, branches } = await withTrees();
  git('worktree', 'unlock', tree(4));
  writeFileSync(project.path('.raymond/state/one.jsonl'), 'damaged\n');
  const { code, stdout, stderr } = await command(project, ['prune', 'one']);
  expect(code).toBe(1);
  expect(stdout).toContain(tree(1));
  expect(stderr).toContain(`${tree(3)} has uncommitted changes`);
  expect(branches()).not.toContain('merged');
});

test('a worktree that lost its .git is kept, and what a killed removal left is removed', async () => {
  const { project, git, tree } = await withTrees();
  git('worktree', 'unlock', tree(4));
  git('merge', '-q', 'raymond/one/own');
  rmSync(`${tree(3)}/.git`);
  mkdirSync(project.path('.raymond/worktrees/one/.removing-main_work9'));
  const { code, stderr } = await command(project, ['prune', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toContain(`${tree(3)} cannot be checked (it is not a worktree)`);
  expect(readdirSync(project.path('.raymond/worktrees/one'))).toEqual(['main_work3']);
});
