/** Runs in the background, with the built program. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { inSuite } from '../long.ts';
import { newProject } from '../new-project.ts';
import { BIN, type Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';

/** Works until the file `morning` exists. */
const SLEEP = `echo "$$" >>asleep; until [ -e morning ]; do sleep 0.05; done; echo '<result>awake</result>'`;
const FLOW = { 'flow/START.sh': SLEEP };

/** The status of a run as `show` reports it. */
async function look(project: Project, run: string) {
  const { stdout } = await command(project, ['show', run, '--json']);
  return JSON.parse(stdout) as {
    readonly condition: string;
    readonly pid: number | null;
    readonly log: string | null;
    readonly result: { readonly text: string } | null;
  };
}

/** A process in the background is no child of the test, so the test ends it by its pid. */
async function started(project: Project, args: readonly string[], env = {}) {
  const ended = await project.run([...args, '--detach'], { env });
  const run = ended.stdout.trim();
  const pid = run === '' ? null : (await look(project, run)).pid;
  onTestFinished(() => {
    if (pid !== null) killHard(pid);
  });
  return { ...ended, run, pid: pid ?? 0 };
}

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const completed = (project: Project, run: string) =>
  eventually(`${run} completes`, async () => (await look(project, run)).condition === 'completed');

test('prints the id, returns while the run works, and the run completes', async () => {
  const project = newProject(FLOW);
  const { code, stdout, stderr, run, pid } = await started(project, ['flow']);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^flow-[0-9a-f]{8}\n$/);
  expect(stderr).toBe(
    [
      `${run} runs in the background (pid ${pid}).`,
      `To watch it: raymond watch ${run}`,
      `To answer its questions: raymond answer ${run}`,
      `To stop it: raymond stop ${run}`,
      '',
    ].join('\n'),
  );
  expect(await look(project, run)).toMatchObject({ condition: 'running', pid });
  expect((await project.run(['list'])).stdout).toMatch(new RegExp(`${run} +running `));
  project.write('morning', '');
  await completed(project, run);
  await eventually('its process ends', async () => (await look(project, run)).pid === null);
  expect(await look(project, run)).toMatchObject({ result: { text: 'awake' } });
  expect(await processesLeft(project.folder)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'its process has its own session and no stream of ours',
  async () => {
    const project = newProject(FLOW);
    const { run, pid } = await started(project, ['flow']);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, , , session, terminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    expect({ session, terminal }).toEqual({ session: String(pid), terminal: '0' });
    const { log } = await look(project, run);
    expect(log).toBe(project.path('.raymond/runs', run, 'process.log'));
    expect(statSync(log ?? '').mode & 0o777).toBe(0o600);
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain(run);
  },
);

test('the run survives the end of its terminal', async () => {
  const project = newProject(FLOW);
  const terminal = atTerminal(project, ['flow', '--workflow-id', 'r', '--detach']);
  expect(await terminal.ended).toBe(0);
  const { pid } = await look(project, 'r');
  onTestFinished(() => killHard(pid ?? 0));
  await eventually('it works', () => project.lines('asleep').length > 0);
  project.write('morning', '');
  await completed(project, 'r');
});

test('a shell gets the id, in a folder with spaces and umlauts', async () => {
  const project = newProject({ 'häßliche Flüsse/START.sh': SLEEP }, 'Größe & "Länge"');
  const { code, stdout, run } = await started(project, ['häßliche Flüsse']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^häßliche-Flüsse-[0-9a-f]{8}\n$/);
  project.write('morning', '');
  await completed(project, run);
});

test('--json prints one object', async () => {
  const project = newProject({ 'flow/START.sh': `echo '<result>x</result>'` });
  const { stdout, stderr } = await project.run(['flow', '--detach', '--json']);
  expect(stderr).toBe('');
  const { workflow_id: run, pid, log } = JSON.parse(stdout);
  expect(pid).toBeGreaterThan(1);
  expect(log).toBe(project.path('.raymond/runs', run, 'process.log'));
  await completed(project, run);
});

/** In the suite: one that the command itself refuses, and one that its process refuses, for both commands. */
const REFUSED = inSuite<readonly [what: string, args: readonly string[], code: number]>(
  [
    ['a wrong value', ['flow', '--budget', 'much'], 64],
    ['a broken workflow', ['broken'], 64],
    ['a missing run', ['resume', 'nothing'], 64],
    ['a run with changed files', ['resume', 'old'], 64],
  ],
  [
    ['a missing workflow', ['nowhere'], 64],
    ['an unknown option', ['flow', '--bogus'], 64],
    ['an id in use', ['flow', '--workflow-id', 'old'], 64],
    ['a log file that cannot be opened', ['flow', '--log-file', 'no/folder'], 64],
    ['a missing input', ['asks'], 64],
  ],
);

test.each(REFUSED)('%s is refused in the same way as without --detach', async (_, args, code) => {
  const project = newProject({
    'flow/START.sh': 'exit 1',
    'broken/START.md': '---\nmodel: [\n---\n',
    'asks/START.sh': 'true',
    'asks/workflow.yaml': 'input: { required: true }\n',
  });
  await project.run(['flow', '--workflow-id', 'old']);
  project.write('flow/START.sh', 'exit 2');
  const before = readdirSync(project.path('.raymond/runs'));
  const usual = await project.run(args);
  const ended = await project.run([...args, '--detach']);
  expect(ended).toMatchObject({ code, stdout: '', stderr: usual.stderr });
  expect(usual.code).toBe(code);
  expect(readdirSync(project.path('.raymond/runs'))).toEqual(before);
  expect(readdirSync(project.path('.raymond/runs/old'))).not.toContainEqual(
    expect.stringContaining('process.log'),
  );
});

test('a refused workflow leaves no folder behind', async () => {
  const project = newProject({ 'broken/START.md': '---\nmodel: [\n---\n' });
  expect(await project.run(['broken', '--detach'])).toMatchObject({ code: 64 });
  expect(existsSync(project.path('.raymond'))).toBe(false);
});

test('the config file decides how the id is printed', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<result>x</result>'`,
    '.raymond/config.toml': '[raymond]\njson = true\n',
  });
  const { stdout, stderr } = await project.run(['flow', '--workflow-id', 'r', '--detach']);
  expect(JSON.parse(stdout)).toMatchObject({ workflow_id: 'r' });
  expect(stderr).toBe('');
  await completed(project, 'r');
});

test('the background process writes the log file', async () => {
  const project = newProject({ 'flow/START.sh': `echo '<result>x</result>'` });
  await project.run(['flow', '--workflow-id', 'r', '--detach', '--log-file', 'run.log']);
  await completed(project, 'r');
  await eventually('the end is logged', () => project.read('run.log').includes('r completed'));
});

test('a run that another process works on is refused, and its log stays', async () => {
  const project = newProject(FLOW);
  const { run, pid } = await started(project, ['flow']);
  const again = await project.run(['resume', run, '--detach']);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain(String(pid));
  expect(
    readdirSync(project.path('.raymond/runs', run)).filter((name) => /log/.test(name)),
  ).toEqual(['process.log']);
  project.write('morning', '');
  await completed(project, run);
});

test('of two starts with the same id, one succeeds', async () => {
  const project = newProject(FLOW);
  const args = ['flow', '--workflow-id', 'same', '--detach'];
  const both = await Promise.all([project.run(args), project.run(args)]);
  const { pid } = await look(project, 'same');
  onTestFinished(() => killHard(pid ?? 0));
  expect(both.map(({ stdout }) => stdout).sort()).toEqual(['', 'same\n']);
  expect(both.filter(({ code }) => code === 0)).toHaveLength(1);
  project.write('morning', '');
  await completed(project, 'same');
  expect(project.lines('asleep')).toHaveLength(1);
});

test('a question waits for raymond answer, and the same process continues', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<ask next="END">which colour?</ask>'`,
    'flow/END.sh': `echo "<result>$RAYMOND_RESULT</result>"`,
  });
  const { run, pid } = await started(project, ['flow']);
  await eventually(
    'it asks',
    async () => (await look(project, run)).condition === 'waiting for an answer',
  );
  const answered = await project.run(['answer', 'red']);
  expect(answered.stderr).toContain('is delivered to main');
  await completed(project, run);
  expect(project.journal(run).filter(({ type }) => type === 'run-resumed')).toEqual([]);
  expect(await look(project, run)).toMatchObject({ result: { text: 'red' } });
  await eventually('the process ends', () => !existsSync(`/proc/${pid}`));
});

test('with --no-wait it ends at a question, and a resume in the background continues', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<ask next="END">which colour?</ask>'`,
    'flow/END.sh': `echo "<result>$RAYMOND_RESULT</result>"`,
  });
  const { run } = await started(project, ['flow', '--no-wait']);
  await eventually('it waits', async () => (await look(project, run)).condition === 'waiting');
  const { code, stdout } = await project.run(['resume', run, '--input', 'blue', '--detach']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${run}\n` });
  await completed(project, run);
  expect(await look(project, run)).toMatchObject({ result: { text: 'blue' } });
});

test('raymond stop ends it and leaves nothing', async () => {
  const project = newProject(FLOW);
  const { run, pid } = await started(project, ['flow']);
  await eventually('it works', () => project.lines('asleep').length > 0);
  expect(await project.run(['stop', run, '--now'])).toMatchObject({ code: 0 });
  expect(await look(project, run)).toMatchObject({ condition: 'interrupted', pid: null });
  await eventually('the process ends', () => !existsSync(`/proc/${pid}`));
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('after an immediate kill, the run can be resumed, and its step is adopted', async () => {
  const project = newProject(FLOW);
  const { run, pid } = await started(project, ['flow']);
  await eventually('it works', () => project.lines('asleep').length > 0);
  killHard(pid);
  await eventually(
    'it has crashed',
    async () => (await look(project, run)).condition === 'crashed',
  );
  const again = await started(project, ['resume', run]);
  expect(again).toMatchObject({ code: 0, run });
  project.write('morning', '');
  await completed(project, run);
  expect(project.lines('asleep')).toHaveLength(1);
});

test('the log explains a crash, and show says where it is', async () => {
  const project = newProject({
    ...FLOW,
    'crash.cjs': `setInterval(() => { if (require('fs').existsSync('boom')) throw new Error('it went boom'); }, 50).unref();`,
  });
  const env = { NODE_OPTIONS: `--require=${project.path('crash.cjs')}` };
  const { run } = await started(project, ['flow'], env);
  project.write('boom', '');
  const logOf = () => project.read('.raymond/runs', run, 'process.log');
  await eventually('it has crashed', () => logOf().includes('it went boom'));
  expect(logOf()).toContain('This is a bug in Raymond');
  const { stdout } = await project.run(['show', run]);
  expect(stdout).toContain(`  log       ${project.path('.raymond/runs', run, 'process.log')}\n`);
});

test('a start that dies before the run begins is an error', async () => {
  const project = newProject({
    ...FLOW,
    'die.cjs': `if (process.argv.includes('__detached')) process.kill(process.pid, 'SIGKILL');`,
  });
  const env = { NODE_OPTIONS: `--require=${project.path('die.cjs')}` };
  const { code, stdout, stderr } = await project.run(['flow', '--workflow-id', 'r', '--detach'], {
    env,
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('The background process of r ended before the run began (SIGKILL).');
  expect(existsSync(project.path('.raymond/runs/r'))).toBe(false);
});

test('an unexpected failure before the run begins is reported as a bug, with its stack', async () => {
  const project = newProject({
    ...FLOW,
    'fail.cjs': `if (process.argv.includes('__detached')) process.prependListener('message', (task) => {
      Object.defineProperty(task, 'options', { get() { throw new TypeError('it went boom'); } });
    });`,
  });
  const env = { NODE_OPTIONS: `--require=${project.path('fail.cjs')}` };
  const args = ['flow', '--workflow-id', 'r', '--detach'];
  const { code, stdout, stderr } = await project.run(args, { env });
  expect({ code, stdout }).toEqual({ code: 70, stdout: '' });
  expect(stderr).toMatch(/This is a bug in Raymond .*: it went boom/);
  expect(stderr).toMatch(/TypeError: it went boom\n.*at /);
  expect(existsSync(project.path('.raymond/runs/r'))).toBe(false);
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('a start whose user has gone before the run begins begins no run', async () => {
  const project = newProject({
    ...FLOW,
    'slow.cjs': `if (process.argv.includes('__detached')) {
      require('fs').writeFileSync('begun', String(process.pid));
      while (!require('fs').existsSync('continue')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }`,
  });
  const env = { NODE_OPTIONS: `--require=${project.path('slow.cjs')}` };
  const starting = project.start(['flow', '--workflow-id', 'r', '--detach'], { env });
  await eventually('the process exists', () => existsSync(project.path('begun')));
  // The file exists a moment before it has its text.
  await eventually('its pid is known', () => project.read('begun') !== '');
  const pid = project.read('begun');
  starting.child.kill('SIGINT');
  await starting.ended;
  project.write('continue', '');
  await eventually('it ends', () => !existsSync(`/proc/${pid}`));
  expect(project.journal('r')).toEqual([]);
});

test('a completed run is not resumed, and --all needs no --detach', async () => {
  const project = newProject({ 'flow/START.sh': `echo '<result>x</result>'` });
  await project.run(['flow', '--workflow-id', 'done']);
  const again = await project.run(['resume', 'done', '--detach']);
  expect(again).toMatchObject({ code: 0, stdout: '' });
  expect(again.stderr).toContain('done is completed.');
  const all = await project.run(['resume', '--all', '--detach']);
  expect(all).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('--detach works with one run.'),
  });
});

test('a rehearsal can also run in the background', async () => {
  const project = newProject({ 'flow/START.md': 'Say <result>hello</result>.' });
  const { run } = await started(project, ['flow', '--rehearse']);
  await completed(project, run);
});

test('a process that a step starts ends with the step', async () => {
  const project = newProject({
    ...FLOW,
    'outer/START.sh': `"$NODE" "$BIN" flow --workflow-id inner --detach >id 2>&1; echo "<result>$?</result>"`,
  });
  const env = { NODE: process.execPath, BIN };
  expect(await project.run(['outer'], { env })).toMatchObject({ code: 0, stdout: '0\n' });
  expect(project.lines('id')).toContain('inner');
  const { condition } = await look(project, 'inner');
  expect(['interrupted', 'crashed']).toContain(condition);
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('the log is emptied when it is too large', async () => {
  const project = newProject({
    ...FLOW,
    'talk.cjs': `if (process.argv.includes('__detached')) {
      process.stderr.write('x'.repeat(2_000_000) + '\\n');
      require('fs').writeFileSync('talked', '');
    }`,
  });
  const env = { NODE_OPTIONS: `--require=${project.path('talk.cjs')}` };
  const { run } = await started(project, ['flow'], env);
  expect(existsSync(project.path('talked'))).toBe(true);
  const size = () => statSync(project.path('.raymond/runs', run, 'process.log')).size;
  await eventually('the log is emptied', () => size() < 1_000_000);
});
