/** Commands for existing runs: list, show, logs, stop, answer, resume, prune. */
import { existsSync, readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { Crew } from '../crash/crew.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { Project } from '../raymond.ts';
import { processesLeft, survivors } from '../survivors.ts';

const FLOWS = {
  'good/START.sh': `echo '<result>fine</result>'`,
  'bad/START.sh': `[ -e cured ] || exit 5; echo '<result>cured</result>'`,
  'ask/START.sh': `echo '<ask next="NEXT">which colour?</ask>'`,
  'ask/NEXT.sh': `echo "<result>$RAYMOND_RESULT</result>"`,
  'hang/START.sh': `echo >>begun; sleep 1000; echo '<result></result>'`,
};

const objects = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe('a live run, a crashed, a waiting, a failed and a completed one', () => {
  let project: Project;
  let live = 0;

  beforeAll(async () => {
    project = new Project(FLOWS);
    const started = [
      project.run(['good', '--workflow-id', 'run-good']),
      project.run(['bad', '--workflow-id', 'run-bad']),
      project.run(['ask', '--workflow-id', 'run-ask']),
    ];
    const doomed = project.start(['hang', '--workflow-id', 'run-crashed']);
    live = project.start(['hang', '--workflow-id', 'run-live']).pid;
    await Promise.all(started);
    await eventually('both have begun', () => project.lines('begun').length === 2);
    doomed.child.kill('SIGKILL');
    await doomed.ended;
    return () => project.dispose();
  });

  test('look different in list', async () => {
    const { code, stdout } = await command(project, ['list']);
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ {2,}/).slice(0, 2));
    expect(Object.fromEntries(rows)).toEqual({
      'run-good': 'completed',
      'run-bad': 'failed',
      'run-ask': 'waiting',
      'run-crashed': 'crashed',
      'run-live': 'running',
    });
  });

  test('list --json', async () => {
    const { stdout } = await command(project, ['list', '--json']);
    const found = objects(stdout).map((run) => [run.id, run.condition, run.pid]);
    expect(found.sort()).toEqual([
      ['run-ask', 'waiting', null],
      ['run-bad', 'failed', null],
      ['run-crashed', 'crashed', null],
      ['run-good', 'completed', null],
      ['run-live', 'running', live],
    ]);
  });

  test('a new start mentions only the crashed one', async () => {
    const { stderr } = await command(project, ['good']);
    expect(stderr).toContain(
      'Unfinished after a crash or a shutdown: run-crashed. To continue it: raymond resume run-crashed',
    );
  });

  test.each([
    ['run-ask', 'asking: which colour?'],
    ['run-bad', 'failed: START.sh exited with 5.'],
    ['run-live', 'running since'],
    ['run-good', 'result    fine'],
  ])('show %s', async (id, text) => {
    const { code, stdout } = await command(project, ['show', id]);
    expect(code).toBe(0);
    expect(stdout).toContain(text);
    expect(stdout).toContain('starts:');
  });

  test('show --json prints the state and the status of list', async () => {
    const { stdout } = await command(project, ['show', 'run-bad', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'run-bad',
      condition: 'failed',
      pid: null,
      agents: [{ id: 'main', state: 'START.sh' }],
    });
  });

  test('logs, and logs --json', async () => {
    const lines = await command(project, ['logs', 'run-good']);
    expect(lines).toMatchObject({ code: 0, stdout: expect.stringContaining('START.sh -> result') });
    const events = await command(project, ['logs', 'run-good', '--json']);
    expect(objects(events.stdout)).toEqual(project.journal('run-good'));
    const numbers = objects(events.stdout).map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  test.each([
    ['shortened', ['show', 'run-g', '--json'], 0, '"id": "run-good"'],
    ['ambiguous', ['prune', 'run-'], 64, '5 runs begin with run-: '],
    ['mistyped', ['show', 'rum-ask'], 64, 'Did you mean run-ask?'],
    ['unknown', ['logs', 'zebra'], 64, 'This project has no run zebra.'],
  ])('an id that is %s', async (_, args, code, text) => {
    const ended = await command(project, args);
    expect(ended.code).toBe(code);
    expect(code === 0 ? ended.stdout : ended.stderr).toContain(text);
  });

  test.each([
    ['stop', ['stop', 'run-good'], 'No process works on run-good.'],
    ['answer', ['answer', 'run-good', 'x'], 'No agent of run-good has a question.'],
    [
      'answer for another agent',
      ['answer', 'run-ask', 'x', '--agent', 'b'],
      'run-ask has no agent b with a question.',
    ],
    ['resume', ['resume'], 'No run is named.'],
    ['prune', ['prune', 'run-live'], 'works on run-live'],
  ])('%s is refused for a run in the wrong status', async (_, args, text) => {
    const { code, stdout, stderr } = await command(project, args);
    expect([1, 64]).toContain(code);
    expect(stdout).toBe('');
    expect(stderr).toContain(text);
  });
});

test('resuming a completed run prints its result again', async () => {
  const project = newProject(FLOWS);
  await command(project, ['good', '--workflow-id', 'g']);
  // A process that is killed right after the last event leaves this state.
  project.write('.raymond/state/g.json', '{}');
  const journal = project.journal('g');
  expect(await command(project, ['resume', 'g'])).toMatchObject({
    code: 0,
    stdout: 'fine\n',
    stderr: expect.stringContaining('g is completed.'),
  });
  expect(project.journal('g')).toEqual(journal);
  expect(JSON.parse(project.read('.raymond/state/g.json'))).toMatchObject({ result: 'fine' });
});

test('a failed run is fixed and resumed', async () => {
  const project = newProject(FLOWS);
  expect(await command(project, ['bad', '--workflow-id', 'b'])).toMatchObject({ code: 1 });
  expect(await command(project, ['resume', 'b'])).toMatchObject({ code: 1 });
  project.write('cured', '');
  expect(await command(project, ['resume', '--all'])).toMatchObject({ code: 0, stdout: 'cured\n' });
  expect(await command(project, ['resume', '--all'])).toMatchObject({ code: 0, stdout: '' });
});

test('logs -f continues until the run ends; stop --json reports the end', async () => {
  const crew = new Crew(1);
  const life = crew.start();
  await crew.gathered();
  const logs = crew.project.start(['logs', 'crew', '-f']);
  await eventually('the log begins', () => logs.stdout().includes('crew starts:'));
  const stop = await crew.project.run(['stop', 'crew', '--now', '--json']);
  expect(JSON.parse(stop.stdout)).toEqual({
    workflow_id: 'crew',
    stopped: true,
    killed: false,
  });
  expect(await life.ended).toMatchObject({ code: 130 });
  const { code, stdout } = await logs.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/crew interrupted .*\n$/);
  expect(stdout.match(/crew starts:/g)).toHaveLength(1);
});

test.each([
  ['crashed', (_: Project) => {}],
  ['damaged', (project: Project) => project.write('.raymond/state/h.jsonl', '{}\n{}\n{}\n')],
])('prune ends the processes of a %s run', async (_, damage) => {
  const project = newProject(FLOWS);
  const life = project.start(['hang', '--workflow-id', 'h']);
  await eventually('it has begun', () => project.lines('begun').length === 1);
  life.child.kill('SIGKILL');
  await life.ended;
  damage(project);
  expect(survivors(project.folder)).not.toEqual([]);
  expect(await command(project, ['prune', 'h'])).toMatchObject({ code: 0 });
  expect(await processesLeft(project.folder)).toEqual([]);
  expect(readdirSync(project.path('.raymond', 'runs'))).toEqual([]);
});

test('prune removes completed runs, and with --all the others', async () => {
  const project = newProject(FLOWS);
  await command(project, ['good', '--workflow-id', 'g']);
  await command(project, ['bad', '--workflow-id', 'b']);
  await command(project, ['ask', '--workflow-id', 'a']);
  const pruned = async (...args: string[]) =>
    objects((await command(project, ['prune', '--json', '--yes', ...args])).stdout);
  expect(await pruned('--older-than', '1h')).toEqual([]);
  expect(await pruned('--dry-run')).toEqual([{ workflow_id: 'g', removed: false }]);
  expect(await pruned()).toEqual([{ workflow_id: 'g', removed: true }]);
  expect(await pruned('a')).toEqual([{ workflow_id: 'a', removed: true }]);
  expect(await pruned('--all')).toEqual([{ workflow_id: 'b', removed: true }]);
  for (const folder of ['state', 'runs', 'debug'])
    expect(readdirSync(project.path('.raymond', folder)), folder).toEqual([]);
  expect(existsSync(project.path('.raymond', '.gitignore'))).toBe(true);
});
