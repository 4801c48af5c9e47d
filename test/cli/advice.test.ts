/** Advice that was wrong or missing once. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RAYMOND_VERSION } from '../../src/world/version.ts';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const HELLO = { 'hello/START.sh': `echo '<result>hello</result>'` };

test('raymond without arguments shows the help, and a script notices', async () => {
  const { code, stdout, stderr } = await command(newProject({}), []);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toMatch(/^Usage: raymond /);
  expect(stderr).toContain('resume');
});

test.each([['-v'], ['--version'], ['version']])('raymond %s prints the version', async (word) => {
  const { code, stdout, stderr } = await command(newProject({}), [word]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`${RAYMOND_VERSION}\n`);
});

test('config says which file does not exist, and how to set a key of a new one', async () => {
  const project = newProject({});
  const before = await command(project, ['config']);
  expect(before.stdout.match(/^# This file does not exist\.$/gm)).toHaveLength(2);
  await command(project, ['--init-config']);
  const { stdout } = await command(project, ['config']);
  expect(stdout.match(/^# This file does not exist\.$/gm)).toHaveLength(1);
  expect(stdout).toContain(
    'config.toml\n# This file sets no key. To set one, remove the # before it.\n',
  );
});

test('config names no remedy for a file whose only keys are ignored, but that it is not trusted', async () => {
  const project = newProject({ '.raymond/config.toml': '[raymond]\nclaude_path = "x"\n' });
  const { stdout } = await command(project, ['config']);
  expect(stdout).not.toContain('sets no key');
  expect(stdout).toContain('To see and approve them: raymond trust\n# claude_path = "x"\n');
});

test('the root of the file system has a name in the message', async () => {
  const { code, stderr } = await command(newProject({}), ['/']);
  expect(code).toBe(64);
  expect(stderr).toMatch(/There is no workflow in \/: |The workflow \/ has no entry/);
});

test('a folder above workflows lists them as words to copy', async () => {
  const project = newProject({
    ...HELLO,
    'flows/second one/1_START.md': 'Say <result>x</result>.',
    'flows/third.yaml': `states:\n  START:\n    sh: "echo '<result>x</result>'"\n`,
    'flows/other.yaml': 'version: 3\n',
    'archive.zip': '',
    '.hidden/START.md': '',
    'node_modules/dep/START.md': '',
    'hello/nested/START.md': '',
    'docs/page.md': '',
  });
  const remedy = "Name a workflow in it: archive.zip, 'flows/second one', flows/third.yaml, hello.";
  const { code, stderr } = await command(project, ['.']);
  expect(code).toBe(64);
  expect(stderr).toContain(`There is no workflow in project: it contains no states.`);
  expect(stderr).toContain(remedy);
  const beside = await command(project, ['../flows'], { cwd: project.path('docs') });
  expect(beside.stderr).toContain("'../flows/second one', ../flows/third.yaml");
});

test('a folder with states but without an entry also lists the workflows below it', async () => {
  const project = newProject({ ...HELLO, 'page.md': '' });
  const { stderr } = await command(project, ['.']);
  expect(stderr).toContain('The workflow project has no entry');
  expect(stderr).toContain('Name a workflow in it: hello.');
});

test.each([
  [['hello', '--input', '--quiet'], '--input', '--quiet'],
  [['run', 'hello', '--budget', '--plain'], '--budget', '--plain'],
  [['hello', '--input', '--budget=3'], '--input', '--budget=3'],
  [['prune', '--older-than', '-y'], '--older-than', '-y'],
  [['--workflow-id', '--plain', 'hello'], '--workflow-id', '--plain'],
])('%j: an option is not the value of another option', async (args, option, value) => {
  const project = newProject(HELLO);
  const { code, stdout, stderr } = await command(project, args);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(
    `The option ${option} needs a value, but the option ${value} follows it.`,
  );
  expect(stderr).toContain(`To give ${value} itself as the value: ${option}=${value}`);
  expect(existsSync(project.path('.raymond'))).toBe(false);
});

test.each([
  [['hello', '--input=--quiet']],
  [['hello', '--input', '--other text']],
  [['hello', '--input', '-1', '--quiet']],
  [['hello', '--input', 'x', '--', '--input']],
])('%j: other words are values', async (args) => {
  const project = newProject({ 'hello/START.sh': `echo "<result>$RAYMOND_RESULT</result>"` });
  const { stderr } = await command(project, args);
  expect(stderr).not.toContain('needs a value');
});

test.each([
  ['no-such-folder/raymond.log', 'no-such-folder/raymond.log cannot be the log file'],
  ['hello', 'hello cannot be the log file'],
])('a log file that cannot be opened (%s) stops the start', async (file, message) => {
  const project = newProject({ 'hello/START.sh': `touch ran; echo '<result>hello</result>'` });
  for (const args of [
    ['hello', '--log-file', file],
    ['hello', '--rehearse', '--log-file', file],
  ]) {
    const { code, stderr } = await command(project, args);
    expect(code).toBe(64);
    expect(stderr).toContain(message);
  }
  expect(existsSync(project.path('ran'))).toBe(false);
  expect((await command(project, ['list'])).stderr).toContain('This project has no runs.');
});
