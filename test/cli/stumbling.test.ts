/** Messages for mistakes that authors often make. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

test.each([
  ['<Goto>END</Goto>', 'It contains <Goto>, but tags are in lower case: <goto>.'],
  ['<goto>END', 'It contains <goto>, but not its end: </goto>.'],
  ['&lt;goto&gt;END', 'It contains &lt;goto, but a tag begins with <: <goto>.'],
  [
    'nothing',
    'There is no transition tag. START.sh must print one, such as <result>done</result>.\n',
  ],
])('a script that prints %s learns what was seen', async (printed, message) => {
  const project = newProject({ 'flow/START.sh': `echo '${printed}'`, 'flow/END.sh': 'true' });
  const { code, stderr } = await command(project, ['flow', '--no-lint']);
  expect(stderr).toContain('There is no transition tag.');
  expect(stderr).toContain(message);
  expect(code).toBe(1);
});

test('the standard error of a successful script is shown with --verbose and kept', async () => {
  const project = newProject({
    'flow/START.sh': `echo 'Größe: 3 warnings' >&2; echo '<result>ok</result>'`,
  });
  const verbose = await command(project, ['flow', '--verbose']);
  expect(verbose).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(verbose.stderr).toContain('Größe: 3 warnings');
  expect((await command(project, ['flow', '--no-debug'])).stderr).not.toContain('warnings');
  const [folder = ''] = readdirSync(project.path('.raymond/debug'));
  const kept = JSON.parse(project.read('.raymond/debug', folder, 'main_START_001.json'));
  expect(kept).toContainEqual({ type: 'stderr', text: expect.stringContaining('3 warnings') });
});

test.each([
  ['flow', 'flow/START.sh:1:1'],
  ['flow.yaml', 'flow.yaml:3:9'],
])('a script of another language in %s is not executed', async (path, place) => {
  const python = '#!/usr/bin/env python3\nimport os\nprint("<result>x</result>")\n';
  const project = newProject({
    'flow/START.sh': python,
    'flow.yaml': `states:\n  START:\n    sh: |\n${python.replaceAll(/^/gm, '      ')}`,
  });
  const { code, stderr } = await command(project, [path]);
  expect(stderr).toContain(`${place}: error: START.sh is for /usr/bin/env python3`);
  expect(stderr).toContain('start it from here');
  expect(code).toBe(64);
});

test.runIf(existsSync('/dev/full'))('output that cannot be written is an error', async () => {
  const project = newProject({ 'flow/START.sh': `echo '<result>ok</result>'` });
  const to = (where: string) => ['/bin/bash', '-c', `"$0" "$@" ${where}`];
  for (const args of ['flow', 'list', 'show --json', 'logs', 'tag goto END']) {
    const within = to('>/dev/full');
    const { code, stderr } = await project.run(args.split(' '), { within });
    expect([args, code]).toEqual([args, 1]);
    expect(stderr).toContain('The output cannot be written: there is no space left.');
  }
  expect(await project.run(['list'], { within: to('| true') })).toMatchObject({
    code: 0,
    stderr: '',
  });
});

test('a debug folder that cannot be made does not stop a run', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<result>ok</result>'`,
    '.raymond/debug': 'a file',
  });
  const { code, stdout, stderr } = await project.run(['flow']);
  expect([code, stdout]).toEqual([0, 'ok\n']);
  expect(stderr).toContain('The debug folder cannot be written, so it is no longer used');
});

test('git status is clean after the first run', async () => {
  const project = newProject({ 'flow/START.sh': `echo '<result>ok</result>'` });
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      cwd: project.folder,
      encoding: 'utf8',
    });
  git('init', '-q');
  git('add', 'flow');
  git('commit', '-qm', 'first');
  expect(await project.run(['flow'])).toMatchObject({ code: 0 });
  expect(git('status', '--short')).toBe('');
});

test.each([
  [['flow', '--budget', '5$'], 'Write an amount in US dollars, without a sign or unit.'],
  [['init-config'], 'To create a config file: raymond --init-config'],
  [['POLL.bat'], 'POLL.bat cannot run on Unix'],
  [['py'], 'START.py is not a state, because its name does not end in .md or .sh.'],
])('%j says what is meant', async (args, message) => {
  const project = newProject({
    'flow/START.sh': `echo '<result>ok</result>'`,
    'POLL.bat': 'x',
    'py/START.py': 'x',
  });
  const { code, stderr } = await project.run(args);
  expect(stderr).toContain(message);
  expect(code).not.toBe(0);
});
