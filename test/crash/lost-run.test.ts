/**
 * The files of a working run are removed, or another process takes it over. The first process stops
 * immediately, reports it, leaves nothing running, and does not touch the files of the other process.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';

/** The first agent sleeps. The other one executes steps for ever. */
const FLOW = {
  'flow/START.sh': `echo '<fork>LOOP</fork><goto>SLEEP</goto>'`,
  'flow/SLEEP.sh': 'echo >>asleep; sleep 600; echo "<result></result>"',
  'flow/LOOP.sh': `echo >>loops; echo '<goto>LOOP</goto>'`,
};
const ASLEEP = {
  'flow/START.sh':
    'echo >>asleep; until [ -e morning ]; do sleep 0.05; done; echo "<goto>NEXT</goto>"',
  'flow/NEXT.sh': 'echo >>next; echo "<result>done</result>"',
};

const START = ['flow', '--workflow-id', 'r', '--no-debug'];
const inState = (project: Project, name: string) => project.path('.raymond', 'state', name);

async function untilAsleep(project: Project): Promise<void> {
  await eventually('a step sleeps', () => project.lines('asleep').length === 1);
}

const harms: readonly [string, (project: Project) => void, RegExp][] = [
  [
    'the folder .raymond is removed',
    (project) => {
      renameSync(project.path('.raymond'), project.path('gone'));
      spawnSync('rm', ['-rf', project.path('gone')]);
    },
    /^raymond: The journal .*r\.jsonl was removed or replaced while the run was working\./m,
  ],
  [
    'the journal is removed',
    (project) => rmSync(inState(project, 'r.jsonl')),
    /^raymond: The journal .*r\.jsonl was removed or replaced/m,
  ],
  [
    'the journal is replaced by an older copy',
    (project) => {
      const first = project.lines('.raymond', 'state', 'r.jsonl')[0];
      writeFileSync(inState(project, 'copy'), `${first}\n`);
      renameSync(inState(project, 'copy'), inState(project, 'r.jsonl'));
    },
    /^raymond: The journal .*r\.jsonl was removed or replaced/m,
  ],
  [
    'the lock is removed',
    (project) => rmSync(project.path('.raymond', 'runs', 'r', 'lock.1')),
    /^raymond: The lock .*lock\.1 of the run was removed\./m,
  ],
];

test.each(harms)('%s while a run executes steps', async (_what, harm, message) => {
  const project = newProject(FLOW);
  const life = project.start(START);
  await untilAsleep(project);
  await eventually('the loop loops', () => project.lines('loops').length > 2);
  harm(project);
  const { code, stdout, stderr } = await life.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  expect(stderr).toContain('Raymond has stopped its steps and starts nothing more.');
  expect(stderr).not.toContain('completed');
  expect(stderr).not.toContain('This is a bug');
  expect(stdout).toBe('');
  expect(await processesLeft(project.folder)).toEqual([]);
});

test.each(harms)('%s while a run waits for a long step', async (_what, harm, message) => {
  const project = newProject(ASLEEP);
  const life = project.start(START);
  await untilAsleep(project);
  harm(project);
  const { code, stderr } = await life.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('This is a bug');
  expect(project.lines('next')).toEqual([]);
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('a process whose lock was removed by hand leaves the run to the next one', async () => {
  const project = newProject(ASLEEP);
  const first = project.start(START);
  await untilAsleep(project);
  first.child.kill('SIGSTOP');
  rmSync(project.path('.raymond', 'runs', 'r', 'lock.1'));
  const second = project.start(['resume', 'r', '--no-debug']);
  await eventually('the second one has the run', () =>
    project.journal('r').some(({ type }) => type === 'run-resumed'),
  );
  first.child.kill('SIGCONT');
  const { code, stderr } = await first.ended;
  expect(code).toBe(1);
  expect(stderr).toContain(`was removed, and process ${second.pid} is working on the run now.`);
  expect(second.child.exitCode).toBeNull();
  project.write('morning', '');
  const ended = await second.ended;
  expect(ended).toMatchObject({ stdout: 'done\n', code: 0 });
  const journal = readFileSync(inState(project, 'r.jsonl'), 'utf8');
  expect((await project.run(['show', 'r'])).code).toBe(0);
  expect(readFileSync(inState(project, 'r.jsonl'), 'utf8')).toBe(journal);
  expect(project.lines('asleep')).toHaveLength(1);
});
