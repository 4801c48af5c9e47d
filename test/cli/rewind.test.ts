import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

function repository(files: Readonly<Record<string, string>>): Project {
  const project = newProject(files);
  const git = (...args: string[]) => execFileSync('git', ['-C', project.folder, ...args]);
  git('init', '-q');
  git('add', '--all');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-qm', 'first');
  return project;
}

const refs = (project: Project) =>
  execFileSync('git', ['-C', project.folder, 'for-each-ref', 'refs/raymond'], { encoding: 'utf8' });

const work = {
  'w/START.sh': `echo 1 >a.txt; echo '<fork next="N">WORK</fork>'`,
  'w/WORK.sh': `echo '<result>w</result>'`,
  'w/N.sh': `echo 2 >a.txt; echo '<call return="END">SUB</call>'`,
  'w/SUB.sh': `echo 3 >a.txt; echo '<result>s</result>'`,
  'w/END.sh': `echo 4 >a.txt; echo '<result>done</result>'`,
};

test('a completed run goes back, continues, goes forth again, and is pruned with its refs', async () => {
  const project = repository(work);
  const raymond = (...args: string[]) => command(project, args);
  await raymond('w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet');
  const { stdout: steps } = await raymond('show', 'r', '--steps', '--json');
  expect(
    JSON.parse(steps)
      .step_list.filter(({ agent }: { agent: string }) => agent === 'main')
      .map(({ step, state }: { step: number; state: string }) => `${step} ${state}`),
  ).toEqual(['1 START.sh', '2 N.sh', '3 SUB.sh', '4 END.sh']);

  const { code, stdout } = await raymond('rewind', 'r', '--to', 'main:3', '--yes', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    workflow_id: 'r',
    agents: expect.arrayContaining(['main']),
    files: [project.folder],
    condition: 'interrupted',
  });
  expect(project.read('a.txt')).toBe('2\n');
  const shown = JSON.parse((await raymond('show', 'r', '--json')).stdout);
  expect(shown.agents.find(({ id }: { id: string }) => id === 'main')).toMatchObject({
    state: 'SUB.sh',
    stack: [{ state: 'END.sh' }],
    steps: 4,
  });
  expect((await raymond('show', 'r', '--steps')).stdout).toMatch(/main:4 .* ended, abandoned/);
  expect((await raymond('logs', 'r')).stdout).toContain('goes back to the moment before main:3');
  expect((await raymond('show', 'r', '--timeline')).stdout).toContain('abandoned by a rewind');

  expect(await raymond('resume', 'r', '--quiet')).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(project.read('a.txt')).toBe('4\n');
  expect(await raymond('rewind', 'r', '--undo', '--yes')).toMatchObject({ code: 0 });
  expect(project.read('a.txt')).toBe('4\n');
  expect(refs(project)).not.toBe('');
  expect(await raymond('prune', 'r')).toMatchObject({ code: 0 });
  expect(refs(project)).toBe('');
});

test.each([
  { why: 'no step', args: [], says: 'No step is named.' },
  { why: 'no number', args: ['--to', 'main'], says: '"main" is not the name of a step.' },
  { why: 'both', args: ['--to', 'main:1', '--undo'], says: 'Both --to and --undo are given.' },
  { why: 'no agent', args: ['--to', 'x:1', '--yes'], says: 'r has no agent x.' },
  { why: 'no such step', args: ['--to', 'main:9', '--yes'], says: 'main of r has no step 9.' },
  { why: 'nothing to undo', args: ['--undo', '--yes'], says: 'r has no rewind to undo.' },
  { why: 'nobody to ask', args: ['--to', '1', '--no-files'], says: 'cannot ask here' },
  { why: 'unknown files', args: ['--to', 'main:1', '--yes'], says: 'are not known' },
])('it refuses: $why', async ({ args, says }) => {
  const project = repository({ 'w/START.sh': `echo '<result>x</result>'` });
  await command(project, ['w', '--workflow-id', 'r', '--quiet']);
  const before = project.journal('r');
  const { code, stderr } = await command(project, ['rewind', 'r', ...args]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(says);
  expect(project.journal('r')).toEqual(before);
});

test('without a repository files are left alone, and a short script leaves no record', async () => {
  const project = newProject(work);
  await command(project, ['w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet']);
  const { code, stderr } = await command(project, ['rewind', 'r', '--to', 'main:1', '--yes']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('are left alone')]);
  expect(project.read('a.txt')).toBe('4\n');
  const inGit = repository(work);
  await command(inGit, ['w', '--workflow-id', 'r', '--quiet']);
  expect(refs(inGit)).toBe('');
  expect(existsSync(inGit.path('.raymond/runs/r/files'))).toBe(false);
});

test('a child in a worktree goes back alone, and gets its removed worktree back', async () => {
  const project = repository({
    'w/START.sh': `echo '<fork worktree="x" next="N">ONE</fork>'`,
    'w/N.sh': `echo '<result>done</result>'`,
    'w/ONE.sh': `echo draft >draft.txt; echo '<goto>TWO</goto>'`,
    'w/TWO.sh': `rm draft.txt; echo '<result>clean</result>'`,
  });
  const raymond = (...args: string[]) => command(project, args);
  await raymond('w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet');
  const tree = project.path('.raymond/worktrees/r/main_one1');
  expect(existsSync(tree)).toBe(false);
  const { code, stdout } = await raymond('rewind', 'r', '--to', 'main_one1:2', '--yes', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ agents: ['main_one1'], files: [tree] });
  expect(project.read('.raymond/worktrees/r/main_one1/draft.txt')).toBe('draft\n');
  expect(await raymond('resume', 'r', '--quiet')).toMatchObject({ code: 0 });
  expect(existsSync(tree)).toBe(false);
});

test('a rehearsal goes back, and gives its answers again', async () => {
  const project = newProject({
    'w/START.md': 'Begin.',
    'w/N.md': 'More.',
    'w/rehearsal.yaml':
      'answers:\n  START: <goto>N</goto>\n  N: [<goto>N</goto>, <result>x</result>]\n',
  });
  const raymond = (...args: string[]) => command(project, args);
  await raymond('w', '--workflow-id', 'r', '--rehearse', '--quiet');
  expect(await raymond('rewind', 'r', '--to', 'main:2', '--yes')).toMatchObject({ code: 0 });
  expect(await raymond('resume', 'r', '--quiet')).toMatchObject({ code: 0, stdout: 'x\n' });
  const states = project
    .journal('r')
    .flatMap((event) => (event.type === 'step-started' ? [event.state] : []));
  expect(states).toEqual(['START.md', 'N.md', 'N.md', 'N.md', 'N.md']);
});
