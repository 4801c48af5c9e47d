// A cloned project may have links where a user wants to write. Nothing is written behind them.
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newProject } from '../new-project.ts';

const FLOW = { 'flow/START.sh': `echo '<result>done</result>'` };

test.each([
  ['init', ['init', 'research', 'place']],
  ['init, deeper', ['init', 'research', 'place/deep/er']],
  ['convert to a folder', ['convert', 'flow.yaml', 'place/made']],
  ['convert to an archive', ['convert', 'flow', 'place/flow.zip']],
  ['record', ['test', '--record', 'r', 'place/flow']],
])('%s does not follow a link out of the project', async (_, args) => {
  const project = newProject({
    ...FLOW,
    'flow.yaml': `states:\n  START:\n    sh: echo '<result>done</result>'\n`,
  });
  const outside = join(dirname(project.folder), 'outside');
  mkdirSync(outside);
  if (args[0] === 'test') {
    await project.run(['flow', '--workflow-id', 'r']);
    project.write('../outside/flow/START.sh', FLOW['flow/START.sh']);
  }
  const before = readdirSync(outside, { recursive: true });
  symlinkSync(outside, project.path('place'));
  const { code, stderr } = await project.run(args);
  expect(stderr).toContain('link to another place');
  expect(stderr).toContain('Name that place itself, or remove the link.');
  expect(code).not.toBe(0);
  expect(readdirSync(outside, { recursive: true })).toEqual(before);
});

test('init does not write through a dangling link, and a link inside of the project is the place that it names', async () => {
  const project = newProject(FLOW);
  symlinkSync('../nowhere', project.path('place'));
  expect((await project.run(['init', 'research', 'place'])).code).not.toBe(0);
  expect(readdirSync(dirname(project.folder))).not.toContain('nowhere');
  mkdirSync(project.path('real'));
  symlinkSync('real', project.path('inside'));
  expect(await project.run(['init', 'research', 'inside'])).toMatchObject({ code: 0 });
  expect(readdirSync(project.path('real'))).toContain('START.md');
});
