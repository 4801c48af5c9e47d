/** The keys of the live view, in a real terminal. */
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { inSuite } from '../long.ts';
import { newProject } from '../new-project.ts';
import { TmuxTerminal } from './tmux.ts';

const SIZES = {
  '80x24': { columns: 80, rows: 24 },
  '100x30': { columns: 100, rows: 30 },
  '140x40': { columns: 140, rows: 40 },
};
const SMALL = SIZES['80x24'];

const UNTIL = (file: string) => `while [ ! -e ${file} ]; do sleep 0.02; done`;

/** One child prints, one has ended, one has failed, and one asks. The last one is in a call. */
const FLOW = {
  'flow/START.sh': `for item in api web docs tests; do printf '<fork next="COLLECT" item="%s">WORK</fork>' $item; done`,
  'flow/COLLECT.sh': `echo '<join>DONE</join>'`,
  'flow/WORK.sh': `case $item in
    api) echo 'Compiling…'; echo '<print>compiles 漢字 src</print>'; ${UNTIL('go')}; echo '<result>built</result>' ;;
    web) echo '<result>nothing to do</result>' ;;
    docs) ${UNTIL('fail')}; echo 'no space left on the device' >&2; exit 3 ;;
    tests) echo '<call return="AGAIN">CHECK</call>' ;;
  esac`,
  'flow/CHECK.sh': `echo '<ask next="GO">Ship it? Two tests are skipped.</ask>'`,
  'flow/GO.sh': `echo "<result>you said $RAYMOND_RESULT</result>"`,
  'flow/AGAIN.sh': `echo "<result>$RAYMOND_RESULT</result>"`,
  'flow/DONE.sh': `echo '<result>all done</result>'`,
};

test.each(Object.entries(SIZES))(
  'an agent is chosen, its conversation opened and left (%s)',
  async (name, size) => {
    const project = newProject(FLOW);
    const terminal = new TmuxTerminal(project, size);
    await terminal.run('raymond flow --workflow-id r');
    await terminal.shows('main_work4 asks:');
    project.write('fail', '');
    await terminal.showsScreen(`flow-${name}`, 'failed: WORK.sh', AGENTS);
    // The question is set aside by the first arrow.
    terminal.type('Down');
    await terminal.shows('❯ ○ main ');
    terminal.type('Down');
    await terminal.showsScreen(`flow-chosen-${name}`, '❯ ● main_work1', AGENTS);
    terminal.type('?');
    await terminal.showsScreen(`flow-keys-${name}`, 'choose an agent', AGENTS);
    terminal.type('Escape');
    terminal.type('Enter');
    await terminal.showsScreen(`flow-conversation-${name}`, 'main_work1:1 WORK.sh');
    project.write('go', '');
    await terminal.shows('ended (');
    terminal.type('Escape');
    await terminal.shows('a answer');
    terminal.type('s');
    await terminal.showsScreen(`flow-stop-${name}`, 'do not stop it', AGENTS);
    terminal.type('n');
    await terminal.shows('a answer');
    terminal.type('a');
    await terminal.shows('\n>');
    terminal.type('-l', 'yes');
    terminal.type('Enter');
    await terminal.shows('r completed');
    await terminal.isAsBefore();
    expect(terminal.history()).toContain('main_work4 was answered: yes');
  },
);

/** The children work at the same time, so the order of the lines above differs. */
const AGENTS = /^[ ❯] ○ main /;

const LONG = {
  'long/START.sh': `seq -f 'line %g' 200; ${UNTIL('more')}; seq -f 'line %g' 201 300; echo '<goto>NEXT</goto>'`,
  'long/NEXT.sh': `echo 'the next step'; ${UNTIL('go')}; echo '<result>done</result>'`,
};

test('a conversation is scrolled, follows its end, and continues with the next step', async () => {
  const project = newProject(LONG);
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond long --workflow-id r');
  await terminal.shows('1 running');
  terminal.type('Down');
  await terminal.shows('❯');
  terminal.type('Enter');
  await terminal.shows('| line 200');
  terminal.type('Home');
  await terminal.shows('main:1 START.sh');
  terminal.type('PPage', 'NPage', 'Down', 'Up');
  await terminal.shows('| line 35');
  project.write('more', '');
  terminal.type('End');
  await terminal.shows('main:2 NEXT.sh');
  await terminal.shows('| the next step');
  terminal.type('Left');
  await terminal.shows('main:1 START.sh');
  terminal.resize(SIZES['140x40']);
  await terminal.shows('| line 30');
  terminal.type('End');
  project.write('go', '');
  // A reader is not interrupted by the end of the run.
  await terminal.shows('The run is over: completed');
  terminal.type('Escape');
  await terminal.shows('r completed');
  await terminal.isAsBefore();
});

test('s stops the run after a confirmation', async () => {
  const project = newProject({ 'wait/START.sh': `${UNTIL('go')}; echo '<goto>START</goto>'` });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond wait --workflow-id r');
  await terminal.shows('1 running');
  terminal.type('s');
  await terminal.shows('the running step finishes first');
  terminal.type('y');
  await terminal.shows('stopping: no new step starts');
  terminal.type('s');
  await terminal.shows('stop it now');
  terminal.type('k');
  await terminal.shows('r interrupted');
  await terminal.isAsBefore();
});

test.each(
  inSuite<readonly [NodeJS.Signals, string]>(
    [['SIGHUP', 'r interrupted']],
    [['SIGTERM', 'r interrupted']],
  ),
)('%s in a conversation restores the terminal', async (signal, shown) => {
  const project = newProject({ 'wait/START.sh': UNTIL('go') });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond wait --workflow-id r');
  await terminal.shows('1 running');
  terminal.type('Down');
  await terminal.shows('❯');
  terminal.type('Enter');
  await terminal.shows('main:1 START.sh');
  const { pid } = JSON.parse((await project.run(['show', 'r', '--json'])).stdout);
  process.kill(pid, signal);
  await terminal.shows(shown);
  await terminal.isAsBefore();
});

test('Ctrl-Z in a conversation gives the terminal back, and fg continues it', async () => {
  const project = newProject({
    'wait/START.sh': `echo hello; ${UNTIL('go')}; echo '<result>ok</result>'`,
  });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond wait --workflow-id r');
  await terminal.shows('1 running');
  terminal.type('Down');
  await terminal.shows('❯');
  terminal.type('Enter');
  await terminal.shows('| hello');
  terminal.type('C-z');
  await terminal.shows('Stopped');
  await terminal.isAsBefore();
  terminal.type('fg', 'Enter');
  await terminal.shows('| hello');
  terminal.type('Escape');
  await terminal.shows('1 running');
  project.write('go', '');
  await terminal.shows('r completed');
  await terminal.isAsBefore();
});

test('without a UTF-8 locale there are only ASCII characters, and without a keyboard no keys', async () => {
  const project = newProject({ 'wait/START.sh': `${UNTIL('go')}; echo '<result>ok</result>'` });
  const terminal = new TmuxTerminal(project, SMALL, { LC_ALL: 'C' });
  await terminal.run('raymond wait --workflow-id r </dev/null');
  await terminal.showsScreen('ascii', '1 running');
  project.write('go', '');
  await terminal.shows('r completed');
  await terminal.isAsBefore();
});

test('a run of another process: its conversation is read, and s stops it', async () => {
  const project = newProject({
    'wait/START.sh': `echo hello; ${UNTIL('go')}; echo '<goto>START</goto>'`,
  });
  const life = project.start(['wait', '--workflow-id', 'r']);
  const terminal = new TmuxTerminal(project, SMALL);
  await eventually('it runs', () =>
    project.journal('r').some(({ type }) => type === 'step-started'),
  );
  await terminal.run('raymond watch r');
  await terminal.shows('1 running');
  terminal.type('Down');
  await terminal.shows('❯');
  terminal.type('Enter');
  await terminal.shows('| hello');
  terminal.type('Escape');
  await terminal.shows('? keys');
  terminal.type('s');
  await terminal.shows('do not stop it');
  terminal.type('k');
  await terminal.shows('r interrupted');
  await terminal.isAsBefore();
  expect(await life.ended).toMatchObject({ code: 130 });
});

test('a word is written to an agent, and a line says what becomes of it', async () => {
  const project = newProject({ 'flow/START.sh': `${UNTIL('go')}; echo '<result>done</result>'` });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond flow --workflow-id r');
  await terminal.shows('START.sh');
  terminal.type('w');
  await terminal.shows('you say to main:');
  terminal.type('use the old API');
  await terminal.shows('> use the old API');
  terminal.type('Enter');
  await terminal.shows('It waits for the next prompt of main of r.');
  const said = project.journal('r').find(({ type }) => type === 'words-said');
  expect(said).toMatchObject({ agent: 'main', text: 'use the old API' });
  project.write('go', '');
  await terminal.shows('r completed');
});
