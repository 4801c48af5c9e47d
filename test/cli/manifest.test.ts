/** The manifest of a folder, as its user meets it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { writeZip } from '../zip-writer.ts';

const DONE = `echo "<result>$RAYMOND_INPUT$REGION</result>"`;

test.each([
  ['default_budget: 1.0', [], 'budget $1.00'],
  ['default_budget: 0', [], 'budget $10.00'],
  ['default_budget: 50', [], 'but the default is $10.00. To allow it: --budget 50'],
  ['default_budget: 1.0', ['--budget', '3'], 'budget $3.00'],
])('%s with %j: %s', async (manifest, options, says) => {
  const project = newProject({ 'flow/START.sh': DONE, 'flow/workflow.yaml': manifest });
  const { code, stderr } = await command(project, ['flow', ...options]);
  expect(stderr).toContain(says);
  expect(code).toBe(0);
});

test('required input has a label, a default, and reaches the first state', async () => {
  const files = {
    'Größe messen/START.sh': DONE,
    'Größe messen/workflow.yaml':
      'input: { required: true, label: das Maß }\nenvironment: { REGION: eu }',
  };
  const project = newProject(files);
  const refused = await command(project, ['Größe messen']);
  expect(refused.stderr).toContain('the workflow Größe messen needs an input: das Maß.');
  expect(refused.stderr).toContain('--input');
  expect(refused.code).toBe(64);
  expect((await command(project, ['Größe messen', '--quiet', '--input', '3 m '])).stdout).toBe(
    '3 m eu\n',
  );
  project.write('Größe messen/workflow.yaml', 'input: { required: true, default: 5 }');
  expect((await command(project, ['Größe messen', '--quiet'])).stdout).toBe('5\n');
});

test('a script stops at its limits', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<goto>START</goto>'`,
    'flow/SILENT.sh': 'sleep 100',
    'flow/workflow.yaml': 'states: { START.sh: { max_visits: 3 }, SILENT.sh: { timeout: 0.3 } }',
  });
  const looped = await command(project, ['flow']);
  expect(looped.stderr).toContain('main has entered START.sh 3 times');
  const silent = await command(project, ['flow/SILENT.sh']);
  expect(silent.stderr).toContain('SILENT.sh was silent for 0.3 s and was stopped.');
  expect([looped.code, silent.code]).toEqual([1, 1]);
});

test('a manifest with an error stops the run, and lint names the place', async () => {
  const project = newProject({ 'flow/START.sh': DONE, 'flow/workflow.yaml': 'agent: nobody' });
  const { code, stderr } = await command(project, ['flow']);
  expect(stderr).toContain('flow/workflow.yaml:1:8: error: There is no agent "nobody".');
  expect(code).toBe(64);
  expect((await command(project, ['lint', 'flow'])).stdout).toContain(
    'flow/workflow.yaml:1:8: error',
  );
});

test('a link out of the folder is no manifest', async () => {
  const project = newProject({ 'flow/START.sh': DONE, 'elsewhere.yaml': 'default_budget: 1' });
  symlinkSync(project.path('elsewhere.yaml'), project.path('flow/workflow.yaml'));
  const { code, stderr } = await command(project, ['flow']);
  expect(stderr).toContain('workflow.yaml is a link that leaves the folder of the workflow.');
  expect(code).toBe(64);
});

test.each(['folder', 'pipe'])('a %s with the name of the manifest is an error', async (kind) => {
  const project = newProject({ 'flow/START.sh': DONE });
  const path = project.path('flow/workflow.yaml');
  if (kind === 'folder') mkdirSync(path);
  else execFileSync('mkfifo', [path]);
  // Its own process, because a pipe that is opened would stop this one.
  const { code, stderr } = await project.run(['flow']);
  expect(stderr).toContain('workflow.yaml is not a regular file.');
  expect(code).toBe(64);
});

test('an archive can also have a manifest', async () => {
  const project = newProject({});
  const parts = { 'START.sh': DONE, 'workflow.yaml': 'default_budget: 2' };
  const entries = Object.entries(parts).map(([name, content]) => ({
    name,
    content,
    deflate: true,
  }));
  writeFileSync(project.path('flow.zip'), writeZip(entries));
  expect((await command(project, ['flow.zip'])).stderr).toContain('budget $2.00');
});

test('a user who names the manifest learns that the folder is the workflow', async () => {
  const manifest = 'states: { START.sh: { timeout: 3 } }';
  const project = newProject({ 'flow/START.sh': DONE, 'flow/workflow.yaml': manifest });
  const { code, stderr } = await command(project, ['flow/workflow.yaml']);
  expect(stderr).toContain('workflow.yaml contains no states');
  expect(stderr).toContain(`Name the folder: ${project.path('flow')}`);
  expect(code).toBe(64);
});

test('a manifest that changed after the start needs a confirmation', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<ask next="END">Go?</ask>'`,
    'flow/END.sh': DONE,
    'flow/workflow.yaml': 'default_budget: 2',
  });
  await command(project, ['flow', '--workflow-id', 'one']);
  project.write('flow/workflow.yaml', 'environment: { REGION: eu }');
  const { stderr } = await command(project, ['resume', 'one', '--input', 'yes']);
  expect(stderr).toContain('workflow.yaml');
  expect(stderr).toContain('--accept-changes');
});

test('workflow tests use the budget and the input of the manifest', async () => {
  const project = newProject({
    'flow/START.md': 'Do {{input}}. <goto>START</goto>',
    'flow/workflow.yaml': 'default_budget: 1\ninput: { required: true, default: it }',
    'flow/money.test.yaml': `
answers: { START: { text: <goto>START</goto>, cost: 0.6 } }
expect: { outcome: "stopped: budget", path: [START, START] }
`,
  });
  const { stdout, code } = await command(project, ['test', 'flow']);
  expect(stdout).toContain('1 passed');
  expect(code).toBe(0);
});
