/** Workflows of the project by name. */
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const RESULT = `echo '<result>done</result>'`;
const FILES = {
  'flows/feature/START.sh': RESULT,
  'flows/feature/workflow.yaml':
    'title: Feature\ndescription: Builds a feature.\ninput:\n  label: what to build\n  required: true\n',
  'flows/audit/START.sh': RESULT,
  'broken.yaml': 'states: [\n',
};

test('a workflow is started by its name', async () => {
  const project = newProject(FILES);
  const { code, stdout } = await command(project, ['audit', '--workflow-id', 'r']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
  expect(await command(project, ['lint', 'audit'])).toMatchObject({ code: 0 });
});

test.each([
  ['a folder below', 'src', 'feature', 'Did you mean ../flows/feature?'],
  ['a folder below, with a path', 'src', 'flows/feature/', 'Did you mean ../flows/feature?'],
  ['a typo', '.', 'featur', 'Did you mean flows/feature?'],
])('from %s, the remedy names the path', async (_, folder, name, remedy) => {
  const project = newProject({ ...FILES, 'src/x.txt': '' });
  const { code, stderr } = await command(project, [name], { cwd: project.path(folder) });
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(remedy) });
});

test('a name that several workflows have is refused', async () => {
  const project = newProject({ ...FILES, 'other/audit/START.sh': RESULT });
  expect(await command(project, ['audit'])).toMatchObject({
    code: 64,
    stderr:
      'raymond: 2 workflows are called audit: flows/audit, other/audit.\n' +
      '         Name one by its path: raymond flows/audit\n',
  });
});

test('list --workflows shows what can be started, and what it takes', async () => {
  const project = newProject(FILES);
  const { stdout } = await command(project, ['list', '--workflows']);
  expect(stdout.split('\n').slice(0, 4)).toEqual([
    expect.stringMatching(/^WORKFLOW +INPUT +DESCRIPTION$/),
    expect.stringMatching(/^broken\.yaml +\S/),
    'flows/audit',
    expect.stringMatching(/^flows\/feature {2}what to build +Builds a feature\.$/),
  ]);
  const lines = (await command(project, ['list', '--workflows', '--json'])).stdout
    .trim()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line).path)).toEqual([
    'broken.yaml',
    'flows/audit',
    'flows/feature',
  ]);
  const none = await command(newProject({}), ['list', '--workflows']);
  expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining('raymond init') });
});
