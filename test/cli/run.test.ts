/** Starting runs: output, results and exit codes. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const HELLO = {
  'hello/START.sh': `echo '<print>on the way</print>'; echo '<goto input="Welt">NEXT</goto>'`,
  'hello/NEXT.sh': `echo "<result>Hallo $RAYMOND_RESULT</result>"`,
};

test.each([
  ['the default form', ['hello']],
  ['run', ['run', 'hello']],
  ['start', ['start', 'hello']],
  ['a state file', ['hello/START.sh']],
])('%s: stdout contains only the result', async (_, args) => {
  const project = newProject(HELLO);
  const { code, stdout, stderr } = await project.run(args);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hallo Welt\n' });
  expect(stderr).toContain('on the way');
  expect(stderr).not.toContain('\x1b');
});

test('another entry, with --input and --set', async () => {
  const project = newProject({
    'hello/NEXT.sh': `echo "<result>$greeting $RAYMOND_INPUT from $RAYMOND_WORKFLOW_ID</result>"`,
  });
  const args = [
    'hello/NEXT',
    '--input',
    'all',
    '--set',
    'greeting=Salut',
    '--workflow-id',
    'an-id',
  ];
  expect(await command(project, args)).toMatchObject({ code: 0, stdout: 'Salut all from an-id\n' });
});

test('--json prints one object per event and nothing else on stdout', async () => {
  const project = newProject(HELLO);
  const { code, stdout, stderr } = await project.run(['hello', '--json', '--workflow-id', 'one']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.filter(({ type }) => type === 'live')).toMatchObject([
    { agent: 'main', step: 1, kind: 'print', text: 'on the way' },
  ]);
  const journaled = project.journal('one').map(({ type }) => type);
  expect(events.map(({ type }) => type).filter((type) => type !== 'live')).toEqual(journaled);
  expect(journaled.at(-1)).toBe('run-ended');
});

test('--quiet prints nothing about a run without errors; --log-file contains the whole report', async () => {
  const project = newProject({ 'hello/START.sh': `echo '<result>x</result>'` });
  const { stderr } = await project.run(['hello', '--quiet', '--log-file', 'run.log']);
  expect(stderr).toBe('');
  expect(project.read('run.log')).toContain('START.sh -> result');
  expect(statSync(project.path('run.log')).mode & 0o777).toBe(0o600);
});

const exits: readonly [string, number, string, string[]][] = [
  ['every agent ended', 0, `echo '<result>x</result>'`, []],
  ['a script fails', 1, 'exit 9', []],
  ['no transition is written', 1, 'echo nothing', []],
  ['a person is asked', 2, `echo '<ask next="START">what?</ask>'`, []],
  ['the steps are used up', 3, `echo '<goto>START</goto>'`, ['--max-iterations', '2']],
  ['an option is unknown', 64, '', ['--bogus']],
  ['a value is wrong', 64, '', ['--budget', 'much']],
  ['a metadata pair is wrong', 64, '', ['--set', 'PATH=/']],
];

test.each(exits)('%s: exit code %d', async (_, code, script, options) => {
  const project = newProject({ 'flow/START.sh': script });
  const ended = await project.run(['flow', ...options]);
  expect(ended.code).toBe(code);
  expect(ended.stdout).toBe(code === 0 ? 'x\n' : '');
  if (code === 64) expect(existsSync(project.path('.raymond'))).toBe(false);
});

test.each([
  ['no arguments', [], 64, 'Usage: raymond [options] [command]'],
  ['an option without a workflow', ['--quiet'], 64, 'No workflow is named.'],
  ['a missing workflow', ['nowhere/flow'], 64, 'There is no workflow at nowhere/flow.'],
  ['a typing error in its name', ['helo'], 64, 'Did you mean hello?'],
  ['a typing error in a command', ['lst'], 64, 'Did you mean: raymond list?'],
  ['a typing error before a run', ['shwo', 'x'], 64, 'Did you mean: raymond show?'],
  ['a typing error before an option', ['prnue', '--dry-run'], 64, 'Did you mean: raymond prune?'],
  ['half a command', ['complete', 'bash'], 64, 'Did you mean: raymond completion?'],
  ['a former command', ['recover'], 64, 'raymond resume <run>'],
  ['a former command with a run', ['recover', 'x'], 64, 'raymond resume --all'],
  ['another former command', ['status'], 64, 'raymond show <run>'],
  ['another former command with an option', ['status', '--wide'], 64, 'raymond list'],
  [
    'an unknown option',
    ['list', '--bogus'],
    64,
    'raymond: The command list has no option --bogus.\n         See: raymond list --help\n',
  ],
  [
    'a missing argument',
    ['lint'],
    64,
    'raymond: The command lint needs the argument <workflow>.\n         See: raymond lint --help\n',
  ],
  [
    'an id that is a path',
    ['hello', '--workflow-id', '../x'],
    64,
    '"../x" is not a valid id of a run.',
  ],
  ['a run that is a path', ['show', '../../x'], 64, '"../../x" is not a valid id of a run.'],
])('%s is refused', async (_, args, code, message) => {
  const project = newProject(HELLO);
  const ended = await command(project, args);
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
  expect(existsSync(project.path('.raymond'))).toBe(false);
});

test('an id that is in use is refused', async () => {
  const project = newProject(HELLO);
  expect(await command(project, ['hello', '--workflow-id', 'mine'])).toMatchObject({ code: 0 });
  const journal = project.journal('mine');
  expect(await command(project, ['hello', '--workflow-id', 'mine'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('The run mine already exists'),
  });
  expect(project.journal('mine')).toEqual(journal);
});

test('a folder with spaces and umlauts, from a folder below it', async () => {
  const project = newProject(
    {
      'häßliche Flüsse/START.sh': `echo "<goto>NÄCHSTER ORT</goto>"`,
      'häßliche Flüsse/NÄCHSTER ORT.sh': `echo "<fork cd=\\"tief unten\\" was=\\"a 'b' ü\\">TEIL</fork><goto>ENDE</goto>"`,
      'häßliche Flüsse/TEIL.sh': `echo "$was" >gemacht; echo '<result></result>'`,
      'häßliche Flüsse/ENDE.sh': `echo "<result>\${PWD##*/}</result>"`,
      'unter ordner/tief unten/leer': '',
    },
    'Größe & "Länge"',
  );
  const cwd = project.path('unter ordner');
  const { code, stdout, stderr } = await project.run(['../häßliche Flüsse'], { cwd });
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'unter ordner\n' });
  expect(project.read('unter ordner', 'tief unten', 'gemacht')).toBe(`a 'b' ü\n`);
  expect(readdirSync(cwd)).toEqual(['tief unten']);
  expect(readdirSync(project.path('.raymond', 'state'))).toHaveLength(2);
});

test('only the owner can read the files of a run', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<fork>WORK</fork><goto input="v">ASK</goto>'`,
    'flow/WORK.sh': `echo x >"$RAYMOND_TASK_FOLDER/x"; chmod 600 "$RAYMOND_TASK_FOLDER/x"; echo '<result></result>'`,
    'flow/ASK.sh': `echo '<ask next="END">?</ask>'`,
    'flow/END.sh': `echo '<result></result>'`,
  });
  await command(project, ['flow', '--workflow-id', 'modes']);
  await command(project, ['answer', 'modes', 'yes']);
  const open: string[] = [];
  let count = 0;
  const look = (path: string) => {
    const stats = statSync(path);
    count++;
    if ((stats.mode & 0o777) !== (stats.isDirectory() ? 0o700 : 0o600)) open.push(path);
    if (stats.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
  };
  look(project.path('.raymond'));
  expect(open).toEqual([]);
  expect(count).toBeGreaterThan(20);
});
