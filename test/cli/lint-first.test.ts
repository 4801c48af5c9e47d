/** A workflow in which lint finds an error does not start, at any door. */
import { existsSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../../src/index.ts';
import { command } from '../command.ts';
import { connected } from '../mcp/connected.ts';
import { newProject } from '../new-project.ts';

const TYPO = {
  'flow/START.sh': `touch began; [ -e late ] && echo '<goto>BUIDL</goto>' || echo '<result>ok</result>'`,
  'flow/BUILD.sh': `echo '<result>built</result>'`,
};
const FOUND = 'flow/START.sh:1:35: error: The target of this <goto> does not exist.';

test('at the terminal, before anything is executed', async () => {
  const project = newProject(TYPO);
  const { code, stderr } = await command(project, ['flow']);
  expect(stderr).toContain(FOUND);
  expect(stderr).toContain(
    `The workflow flow has errors.\n         Fix them, or start it all the same with --no-lint. To see all of them: raymond lint ${project.path('flow')}`,
  );
  expect(code).toBe(64);
  expect(await command(project, ['flow', '--detach'])).toMatchObject({ code: 64 });
  expect(existsSync(project.path('began'))).toBe(false);
  expect(existsSync(project.path('.raymond/runs'))).toBe(false);
});

test('unless the user says so, on the command line or in a config file', async () => {
  const project = newProject(TYPO);
  const { code, stdout, stderr } = await command(project, ['flow', '--no-lint']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'ok\n' });
  expect(stderr).toContain(FOUND);
  project.write('.raymond/config.toml', '[raymond]\nlint = false\n');
  expect(await command(project, ['flow'])).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(await command(project, ['flow', '--lint'])).toMatchObject({ code: 64 });
});

test('also if only a workflow that it names has the error', async () => {
  const project = newProject({
    ...TYPO,
    'outer/START.sh': `touch began; echo '<function-workflow return="END">../flow</function-workflow>'`,
    'outer/END.sh': `echo '<result>ended</result>'`,
  });
  const { code, stderr } = await command(project, ['outer']);
  expect(stderr).toContain(FOUND);
  expect(code).toBe(64);
  expect(existsSync(project.path('began'))).toBe(false);
});

test('warnings, and errors that no agent can reach, do not matter', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<result>ok</result>'`,
    'flow/OTHER.sh': `echo '<goto>NOWHERE</goto>'`,
    'flow/DEAD.sh': 'true',
  });
  expect(await command(project, ['flow', '--quiet'])).toMatchObject({
    code: 0,
    stdout: 'ok\n',
    stderr: '',
  });
});

test('for a program and for an agent', async () => {
  const project = newProject(TYPO);
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME'])
    vi.stubEnv(name, project.environment[name]);
  onTestFinished(() => void vi.unstubAllEnvs());
  const place = { cwd: project.folder };
  await expect(run('flow', place).ended).rejects.toThrow('The workflow flow has errors.');
  expect(await run('flow', { ...place, lint: false }).ended).toMatchObject({ result: 'ok' });
  const { raw } = await connected(project);
  const refused = await raw('start', { workflow: 'flow' });
  expect(refused).toMatchObject({ isError: true });
  expect(refused.text).toContain('The workflow flow has errors.');
  expect(refused.text).toContain('There is no state \\"BUIDL\\".');
});

test('a run that has begun continues, but not with a new error', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<goto>ASK</goto>'`,
    'flow/ASK.sh': `echo '<ask next="END">Which?</ask>'`,
    'flow/END.sh': `[ -e late ] && echo '<goto>BUIDL</goto>' || echo '<result>ok</result>'`,
  });
  const started = await command(project, ['flow', '--no-lint', '--workflow-id', 'one']);
  expect(started.code).toBe(2);
  const resumed = await command(project, ['resume', 'one']);
  expect(resumed.stderr).toContain('flow/END.sh:1:22: error:');
  expect(resumed.stderr).toContain(
    'Lint finds errors in flow. The run continues, because it has begun with this workflow.',
  );
  expect(resumed.code).toBe(2);
  project.write('flow/ASK.sh', `echo '<ask next="EDN">Which?</ask>'`);
  const changed = await command(project, ['resume', 'one', '--accept-changes']);
  expect(changed.stderr).toContain('flow/ASK.sh:1:7: error:');
  expect(changed.code).toBe(64);
  const forced = await command(project, [
    'resume',
    'one',
    '--accept-changes',
    '--no-lint',
    '--input',
    'x',
  ]);
  expect(forced).toMatchObject({ code: 0, stdout: 'ok\n' });
});
