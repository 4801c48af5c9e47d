/** The commands of `ensures`, executed for real: a rehearsing agent answers the prompts. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const FLOW = {
  'flow/START.md': `---
ensures:
  - { run: "echo run >> ran; test -e green || { echo 2 tests failed; exit 3; }", on: [result], say: Make it green. }
---
Work, then end with <result>done</result>.`,
  'flow/rehearsal.yaml': 'answers: {START: <result>done</result>}\n',
};
const REHEARSE = ['flow', '--rehearse', '--scripts', '--workflow-id', 'e'];

test('a command that fails reminds the agent with its output, and is reported with its exit code', async () => {
  const project = newProject({
    ...FLOW,
    'flow/START.md': FLOW['flow/START.md'].replace('test -e green', 'test $(wc -l < ran) -ge 2'),
  });
  const ended = await command(project, [...REHEARSE, '--verbose']);
  expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
  const events = project.journal('e');
  expect(events.flatMap((event) => ('exit' in event ? [event.exit] : []))).toEqual([3, 0]);
  const [reminder] = events.filter(({ type }) => type === 'agent-reminded');
  expect(reminder).toMatchObject({ ensure: 0, text: expect.stringContaining('2 tests failed') });
  expect(ended.stderr).toContain('exited with 3');
  await countsSteps(project, ended.stderr, 4);
});

/** Every place names the number of steps that `show --steps` lists: here also a reminder and two checks. */
async function countsSteps(project: Project, lastLines: string, count: number): Promise<void> {
  const shown = async (...args: readonly string[]) => (await command(project, args)).stdout;
  const { steps, step_list, states, agents } = JSON.parse(
    await shown('show', 'e', '--steps', '--json'),
  );
  expect([steps, step_list.length, states[0].steps, agents[0].steps]).toEqual([
    count,
    count,
    count,
    count,
  ]);
  expect((await shown('show', 'e', '--steps')).match(/^main:/gm)).toHaveLength(count);
  expect(await shown('show', 'e')).toContain(`, ${count} steps\n`);
  expect(lastLines).toContain(`(${count} steps, `);
  expect(JSON.parse(await shown('list', '--json'))).toMatchObject({ steps: count, iterations: 1 });
  expect(await shown('list')).toMatch(new RegExp(`^e +completed +\\d+ s +${count} `, 'm'));
}

test('without --scripts a rehearsal executes no command, and a check succeeds', async () => {
  const project = newProject(FLOW);
  expect(await command(project, ['flow', '--rehearse'])).toMatchObject({
    code: 0,
    stdout: 'done\n',
  });
  expect(project.lines('ran')).toEqual([]);
});

test('the rehearsal file can name the outcome of a command', async () => {
  const check = 'npm test';
  const project = newProject({
    'flow/START.md': `---\nensures: [{ run: ${check}, tries: 1, else: { tag: result, payload: stuck } }]\n---\nEnd with <result>done</result>.`,
    'flow/rehearsal.yaml': `checks: {${check}: {exit: 7, output: red}}\n`,
  });
  expect(await command(project, ['flow', '--rehearse'])).toMatchObject({
    code: 0,
    stdout: 'stuck\n',
  });
});

test('a failed agent can be resumed after a person has repaired the cause', async () => {
  const project = newProject(FLOW);
  expect((await command(project, REHEARSE)).code).toBe(1);
  expect(project.lines('ran')).toHaveLength(4);
  writeFileSync(project.path('green'), '');
  expect(await command(project, ['resume', 'e'])).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(project.lines('ran')).toHaveLength(5);
});

test('a check that runs while Raymond is killed is adopted, not repeated', async () => {
  const project = newProject({
    ...FLOW,
    'flow/START.md': `---
ensures:
  - { run: "echo run >> ran; until [ -e go ]; do sleep 0.05; done" }
---
Work, then end with <result>done</result>.`,
  });
  const life = project.start(REHEARSE);
  await eventually('the check runs', () => project.lines('ran').length === 1);
  life.child.kill('SIGKILL');
  await life.ended;
  const resumed = project.start(['resume', 'e']);
  await eventually('it is resumed', () =>
    project.journal('e').some(({ type }) => type === 'run-resumed'),
  );
  writeFileSync(project.path('go'), '');
  expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(project.lines('ran')).toHaveLength(1);
});

test('a silent command is stopped, and counts as failed', async () => {
  const project = newProject({
    'flow/START.md': `---
timeout: 1
ensures: [{ run: sleep 1000, tries: 0, else: { tag: result, payload: hangs } }]
---
Work, then end with <result>done</result>.`,
  });
  const ended = await command(project, REHEARSE);
  expect(ended).toMatchObject({ code: 0, stdout: 'hangs\n' });
  expect(project.journal('e').find((event) => 'exit' in event)).toMatchObject({ exit: 124 });
});

test('a test names the outcomes of commands, and a recording repeats them', async () => {
  const project = newProject({
    ...FLOW,
    'flow/START.md': `---
ensures: [{ run: npm test, say: Make it green. }]
---
Work, then end with <result>done</result>.`,
    'flow/green.test.yaml': `answers: {START: <result>done</result>}
checks: {npm test: [{exit: 1, output: 2 tests failed}, 0]}
expect: {result: done, prompts: {START: [Make it green., 2 tests failed]}}
`,
  });
  const tested = await command(project, ['test', 'flow']);
  expect(tested).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') });
  project.write('flow/rehearsal.yaml', 'checks: {npm test: [1, 0]}\n');
  await command(project, ['flow', '--rehearse', '--workflow-id', 'r']);
  const recorded = await command(project, ['test', 'flow', '--record', 'r']);
  expect(recorded.code).toBe(0);
  expect(await command(project, ['test', 'flow'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 passed'),
  });
});

test('an agent that goes round in circles is noticed, also across a resume', async () => {
  const flow = (text: string) => `---
evaluators: [{ unchanged: 3, then: { tag: result, payload: circles } }]
---
${text}, then <goto>WORK</goto>.`;
  const project = newProject({
    'flow/START.md': flow('Look'),
    'flow/WORK.sh':
      'echo round >> rounds; [ "$(wc -l < rounds)" -gt 4 ] || cp rounds file; echo "<goto>START</goto>"',
    '.gitignore': 'rounds\n',
  });
  execFileSync('git', ['init', '-q'], { cwd: project.folder });
  const stopped = await command(project, [...REHEARSE, '--max-iterations', '12']);
  expect(stopped.code).toBe(3);
  const ended = await command(project, ['resume', 'e', '--max-iterations', '0']);
  expect(ended).toMatchObject({ code: 0, stdout: 'circles\n' });
  // Four rounds changed a file. Then three entries found the same files.
  expect(project.lines('rounds')).toHaveLength(6);
});
