import { expect, test } from 'vitest';
import { newProject } from '../new-project.ts';

const LOOP = { 'loop/START.sh': `echo >>steps; echo '<goto>START</goto>'` };
const CONFIG = '.raymond/config.toml';

test('--init-config writes every option, commented out, and never over a file', async () => {
  const project = newProject(LOOP);
  expect(await project.run(['--init-config'])).toMatchObject({ code: 0, stdout: '' });
  const text = project.read(CONFIG);
  for (const key of ['budget', 'max_iterations', 'dangerously_skip_permissions', 'claude_path'])
    expect(text).toMatch(new RegExp(`^# ${key} = `, 'm'));
  expect(text).not.toMatch(/^[^#[\n]/m);
  expect(await project.run(['--init-config'])).toMatchObject({ code: 64 });
  expect(project.read(CONFIG)).toBe(text);
  // As it is, and with every option switched on, it can be read.
  expect(await project.run(['config'])).toMatchObject({ code: 0 });
  project.write(CONFIG, text.replace(/^# (\w+ = )/gm, '$1'));
  const { code, stdout } = await project.run(['config', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ budget: 10, maxIterations: 100, failFast: false });
});

test('what it says holds, unless the command line says otherwise', async () => {
  const project = newProject({
    ...LOOP,
    [CONFIG]: '[raymond]\nmax_iterations = 2\nquiet = true\n',
  });
  const { code, stderr } = await project.run(['loop']);
  expect(code).toBe(3);
  expect(stderr).not.toContain('starts:');
  expect(project.lines('steps')).toHaveLength(2);
  await project.run(['loop', '--max-iterations', '3']);
  expect(project.lines('steps')).toHaveLength(2 + 3);
});

test.each([
  ['an unknown key', '\n[raymond]\n\nmax_iteration = 2\n', 'line 4', 'max_iterations'],
  ['a wrong type', '[raymond]\nbudget = "much"\n', 'line 2', 'Write a number'],
  ['a wrong value', '[raymond]\nquiet = false\nmodel = "gpt"\n', 'line 3', 'opus, sonnet, haiku'],
  ['a key outside of [raymond]', 'budget = 3\n', 'line 1', 'Put it under [raymond]'],
  ['what is no TOML', '[raymond]\nbudget = = 3\n', 'line 2', 'Correct the line'],
])('%s is refused with its line and a remedy', async (_, text, line, remedy) => {
  const project = newProject({ ...LOOP, [CONFIG]: text });
  const ended = await project.run(['loop']);
  expect(ended).toMatchObject({ code: 64, stdout: '' });
  expect(ended.stderr).toContain(`${project.path(CONFIG)}, ${line}`);
  expect(ended.stderr).toContain(remedy);
  expect(project.lines('steps')).toEqual([]);
});
