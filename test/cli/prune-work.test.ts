// prune keeps unsaved work, and deletes it only after a yes.
import { existsSync, writeFileSync } from 'node:fs';
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
  const tree = project.path('.raymond/runs/dirty/tasks/main/tree');
  writeFileSync(`${tree}/report.md`, 'of days');
  return { project, tree };
}

test('a run with work that exists nowhere else is kept, and the work is named', async () => {
  const { project, tree } = await withWork();
  const dry = await command(project, ['prune', '--dry-run']);
  expect(dry).toMatchObject({ code: 1, stdout: 'would remove clean\n' });
  const { code, stdout, stderr } = await command(project, ['prune']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'removed clean\n' });
  expect(stderr).toContain(`${tree} has uncommitted changes`);
  expect(project.read('.raymond/runs/dirty/tasks/main/tree/report.md')).toBe('of days');
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

  const no = atTerminal(project, discard);
  await eventually('it asks', () => no.screen().includes('Delete it?'));
  expect(no.screen()).toContain(`${tree} has uncommitted changes`);
  no.type('no\r');
  expect(await no.ended).toBe(1);
  expect(existsSync(tree)).toBe(true);

  const yes = atTerminal(project, discard);
  await eventually('it asks', () => yes.screen().includes('Delete it?'));
  yes.type('yes\r');
  expect(await yes.ended).toBe(0);
  expect(existsSync(project.path('.raymond/runs/dirty'))).toBe(false);
});
