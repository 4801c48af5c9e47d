/** Commands without the name of a run, and with a name that several runs begin with. */
import { beforeAll, describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { Project } from '../raymond.ts';

describe('three runs of a project', () => {
  let project: Project;

  beforeAll(async () => {
    project = new Project({
      'good/START.sh': `echo '<result>fine</result>'`,
      'hang/START.sh': `echo >>begun; sleep 1000`,
    });
    // By their names they are in another order.
    await project.run(['good', '--workflow-id', 'run-c']);
    project.start(['hang', '--workflow-id', 'run-b']);
    await eventually('run-b works', () => project.lines('begun').length === 1);
    await project.run(['good', '--workflow-id', 'run-a']);
    return () => project.dispose();
  });

  test.each([
    ['show', [], 'run-a: completed'],
    ['show', ['run'], 'run-a: completed'],
    ['show', ['run-b'], 'run-b: running'],
    ['logs', [], 'run-a starts'],
    ['logs', ['run-'], 'run-a starts'],
  ])('%s %j shows the newest one that is meant', async (name, names, text) => {
    const { code, stdout } = await command(project, [name, ...names]);
    expect(code).toBe(0);
    expect(stdout).toContain(text);
  });

  test.each([
    [['stop', 'run']],
    [['resume', 'run-']],
    [['answer', 'run', 'yes']],
    [['prune', 'run']],
  ])('%j refuses, and lists the runs with status and time, the newest first', async (args) => {
    const { code, stderr } = await command(project, args);
    expect(code).toBe(64);
    expect(stderr.replace(/\s+/g, ' ')).toMatch(
      /3 runs begin with run-?: run-a \(completed, started [\d:]+\), run-b \(running, started [\d:]+\), run-c \(completed, started [\d:]+\)\. Write more of the id\./,
    );
  });

  test('stop stops the newest one that works, and then says that none does', async () => {
    const stopped = await command(project, ['stop', '--now']);
    expect(stopped).toMatchObject({ code: 0 });
    expect(stopped.stderr).toContain('run-b has stopped.');
    const none = await command(project, ['stop']);
    expect(none.code).toBe(64);
    expect(none.stderr).toContain('No process works on a run of this project.');
  });
});

test.each(['show', 'logs', 'stop', 'answer'])('%s in a project without runs', async (name) => {
  const { code, stderr } = await command(newProject({}), [name]);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toMatch(/To (start one|see all runs): raymond/);
});

test('a damaged run is not taken for the newest one', async () => {
  const project = newProject({ 'START.sh': `echo '<result>fine</result>'` });
  await project.run(['.', '--workflow-id', 'good']);
  project.write('.raymond/state/bad.jsonl', 'garbage\n');
  expect((await command(project, ['show'])).stdout).toContain('good: completed');
});
