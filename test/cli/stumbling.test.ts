/** Messages for mistakes that authors often make. */
import { readdirSync } from 'node:fs';
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
  const { code, stderr } = await command(project, ['flow']);
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
