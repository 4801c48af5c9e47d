/** `raymond watch`: the view of a run of another process. */
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { TmuxTerminal } from './tmux.ts';

const SIZE = { columns: 80, rows: 24 };
const UNTIL_GO = 'while [ ! -e go ]; do sleep 0.02; done';

const FLOWS = {
  'wait/START.sh': `echo '<print>It waits.</print>'; ${UNTIL_GO}; echo '<result>done</result>'`,
  'ask/START.sh': `echo '<ask next="GO" timeout="20h" timeout_next="GO">Ship it?</ask>'`,
  'ask/GO.sh': 'echo "<result>you said $RAYMOND_RESULT</result>"',
  'loop/START.sh': `n=$((\${RAYMOND_RESULT:-0} + 1))
    if [ $n -lt 150 ]; then echo "<goto input='$n'>START</goto>"; else echo '<result>ok</result>'; fi`,
};

const isRunning = (project: Project) =>
  eventually('it runs', () => project.journal('r').some(({ type }) => type === 'step-started'));

test('the newest running run is shown with what its agent says, until it ends', async () => {
  const project = newProject(FLOWS);
  await command(project, ['loop', '--workflow-id', 'older']);
  const life = project.start(['wait', '--workflow-id', 'r']);
  await isRunning(project);
  const terminal = new TmuxTerminal(project, SIZE);
  await terminal.run('raymond watch');
  await terminal.showsScreen('watch', '"It waits."');
  project.write('go', '');
  await terminal.showsScreen('watch-ended', 'r completed');
  await terminal.isAsBefore();
  expect(await life.ended).toMatchObject({ code: 0, stdout: 'done\n' });
});

test('Ctrl-C leaves the watching, and the run continues', async () => {
  const project = newProject(FLOWS);
  const life = project.start(['wait', '--workflow-id', 'r']);
  await isRunning(project);
  const terminal = new TmuxTerminal(project, SIZE);
  await terminal.run('raymond watch r');
  await terminal.shows('1 running');
  terminal.type('C-c');
  await terminal.shows('r continues. To watch it again: raymond watch r');
  await terminal.isAsBefore();
  project.write('go', '');
  expect(await life.ended).toMatchObject({ code: 0 });
});

test('a question of a run in the background is answered in place', async () => {
  const project = newProject(FLOWS);
  await project.run(['ask', '--workflow-id', 'r', '--detach']);
  const terminal = new TmuxTerminal(project, SIZE);
  await terminal.run('raymond watch');
  await terminal.shows('\n>');
  terminal.type('-l', 'yes');
  terminal.type('Enter');
  await terminal.shows('main   GO.sh -> result');
  await terminal.shows('you said yes');
  await terminal.shows('r completed');
  await terminal.isAsBefore();
});

test('an answer that another terminal has given removes the question', async () => {
  const project = newProject({ ...FLOWS, 'ask/GO.sh': `${UNTIL_GO}; echo '<result>ok</result>'` });
  await project.run(['ask', '--workflow-id', 'r', '--detach']);
  const terminal = new TmuxTerminal(project, SIZE);
  await terminal.run('raymond watch');
  await terminal.shows('\n>');
  expect(await command(project, ['answer', 'r', 'no'])).toMatchObject({ code: 0 });
  await terminal.shows('was answered: no');
  await eventually('the question is gone', () => !terminal.screen().includes('\n>'));
  project.write('go', '');
  await terminal.shows('r completed');
  await terminal.isAsBefore();
});

test('a process that no longer exists is reported', async () => {
  const project = newProject(FLOWS);
  const life = project.start(['wait', '--workflow-id', 'r']);
  await isRunning(project);
  const terminal = new TmuxTerminal(project, SIZE);
  await terminal.run('raymond watch r');
  await terminal.shows('1 running');
  life.child.kill('SIGKILL');
  await terminal.showsScreen('watch-crashed', 'To continue: raymond resume r');
  await terminal.isAsBefore();
  // Afterwards, it stays until the person leaves, who may want to read the conversation.
  await terminal.run('raymond watch r');
  await terminal.shows('q leave');
  terminal.type('Down');
  await terminal.shows('❯');
  terminal.type('Enter');
  await terminal.shows('| <print>It waits.</print>');
  terminal.type('Escape');
  await terminal.shows('q leave');
  terminal.type('q');
  await terminal.shows('To continue: raymond resume r');
  await terminal.isAsBefore();
  project.write('go', '');
});

test('a finished run is shown with its newest lines, until the person leaves', async () => {
  const project = newProject(FLOWS);
  await command(project, ['loop', '--workflow-id', 'r']);
  const terminal = new TmuxTerminal(project, SIZE);
  await terminal.run('raymond watch');
  await terminal.showsScreen('watch-finished', 'q leave');
  terminal.type('q');
  await terminal.showsScreen('watch-finished-left', '\n$');
  await terminal.isAsBefore();
  expect(terminal.history()).toContain(
    '52 earlier lines are not shown. To see them: raymond logs r',
  );
});

test('in a pipe it prints lines or events, and follows the run to its end', async () => {
  const project = newProject(FLOWS);
  const life = project.start(['wait', '--workflow-id', 'r']);
  await isRunning(project);
  const lines = project.start(['watch']);
  const events = project.start(['watch', 'r', '--json']);
  await eventually('both follow', () => [lines, events].every((one) => one.stdout() !== ''));
  project.write('go', '');
  await life.ended;
  expect(await lines.ended).toMatchObject({ code: 0 });
  expect(lines.stdout()).toMatch(/main +START\.sh -> result/);
  expect(lines.stdout()).not.toContain('\x1b');
  const types = (await events.ended).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect(types).toEqual(project.journal('r').map(({ type }) => type));
});
