// What a state may touch: who says it, who enforces it, and what happens without a sandbox.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';

const TRIES = `echo new > out/made
echo new > beside
echo "<result>$(ls -d beside out/made 2>/dev/null | tr '\\n' ' ')</result>"
`;

const flow = (rights: string, script = TRIES) => ({
  'flow/workflow.yaml': `states: { START.sh: { rights: ${rights} } }\n`,
  'flow/START.sh': script,
  'out/.keep': '',
});

describe('a script', () => {
  test('writes only where its state may, and the author is told what was refused', async () => {
    const project = newProject(flow('{ write: [out] }'));
    const { code, stdout, stderr } = await command(project, ['flow']);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'out/made \n' });
    expect(stderr).toContain('the sandbox refused: write beside');
    expect(stderr).toContain('To allow it, add it to rights.write of the state.');
  });

  test('that may write its directory changes neither its workflow nor what git executes', async () => {
    const script = `echo x > made; mkdir -p .git/hooks
echo x > .git/hooks/pre-commit; echo x >> flow/START.sh; echo x > .raymond/made
echo "<result>$(ls made .git/hooks/pre-commit .raymond/made 2>/dev/null)</result>"`;
    const project = newProject(flow('{ write: [.] }', script));
    expect(await command(project, ['flow'])).toMatchObject({ stdout: 'made\n' });
    expect(project.read('flow/START.sh')).toBe(script);
  });

  test('of a state without rights is not confined', async () => {
    const project = newProject({ ...flow('{ write: [out] }'), 'flow/workflow.yaml': '' });
    expect(await command(project, ['flow'])).toMatchObject({ stdout: 'beside out/made \n' });
  });

  test('whose state may write nothing can still use its task folder and /tmp', async () => {
    const script = `echo x > /tmp/own && echo x > "$RAYMOND_TASK_FOLDER/own" && echo x > own
echo "<result>$(ls /tmp "$RAYMOND_TASK_FOLDER" | grep -c own)</result>"`;
    const project = newProject(flow('{ write: [] }', script));
    expect(await command(project, ['flow'])).toMatchObject({ stdout: '2\n' });
  });
});

describe('each level only narrows', () => {
  test.each<[string, string, string]>([
    ['the user, what the workflow allows', '{ write: [.] }', '{ write: [out] }'],
    ['the workflow, what the user allows', '{ write: [out] }', '{ write: [.] }'],
  ])('%s', async (_, ofWorkflow, ofUser) => {
    const project = newProject(flow(ofWorkflow));
    configure(project, `[raymond]\nrights = ["${ofUser}"]\n`);
    expect(await command(project, ['flow'])).toMatchObject({ stdout: 'out/made \n' });
  });

  test.each(['rights = false', 'no_rights = true'])(
    'a config file cannot lift them with %s',
    async (line) => {
      const project = newProject({ ...flow('{}'), '.raymond/config.toml': `[raymond]\n${line}\n` });
      const { code, stderr } = await command(project, ['flow']);
      expect({ code, stderr }).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('rights'),
      });
    },
  );

  test('--rights confines a workflow that says nothing about rights', async () => {
    const project = newProject({ ...flow('{}'), 'flow/workflow.yaml': '' });
    const args = ['flow', '--rights', '{ write: [out] }'];
    expect(await command(project, args)).toMatchObject({ stdout: 'out/made \n' });
  });

  test('a level that means nothing is refused', async () => {
    const project = newProject(flow('{}'));
    const { code, stderr } = await command(project, ['flow', '--rights', '{ wirte: [out] }']);
    expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining('wirte') });
  });
});

describe('without a sandbox', () => {
  const env = { PATH: '/nowhere' };

  test('a workflow with rights does not start', async () => {
    const project = newProject(flow('{ write: [out] }'));
    const { code, stderr } = await command(project, ['flow', '--workflow-id', 'r'], { env });
    expect(code).toBe(64);
    expect(stderr).toContain('this machine cannot enforce it. The sandbox needs bwrap');
    expect(stderr).toContain('apt-get install bubblewrap');
    expect(project.journal('r')).toEqual([]);
  });

  test('doctor says so', async () => {
    const { stdout } = await command(newProject({}), ['doctor'], { env });
    expect(stdout).toMatch(/^warning +sandbox +The sandbox needs bwrap/m);
  });

  test('a workflow without rights starts', async () => {
    const project = newProject({ ...flow('{}'), 'flow/workflow.yaml': '' });
    const { stderr } = await command(project, ['flow', '--workflow-id', 'r'], { env });
    expect(stderr).not.toContain('sandbox');
    expect(project.journal('r')).not.toEqual([]);
  });
});

test('doctor tries the sandbox', async () => {
  const { stdout } = await command(newProject({}), ['doctor']);
  expect(stdout).toMatch(/^ok +sandbox +bubblewrap can confine steps with rights$/m);
});

test('--no-rights lifts all rights, loudly', async () => {
  const project = newProject(flow('{ write: [out] }'));
  const { stdout, stderr } = await command(project, ['flow', '--no-rights']);
  expect(stdout).toBe('beside out/made \n');
  expect(stderr).toContain('WARNING: the rights of this workflow are lifted.');
});

test('an agent that cannot be confined does not start', async () => {
  const project = newProject({ 'flow/START.md': '---\nagent: mine\nrights: {}\n---\nWork.' });
  configure(project, '[agents.mine]\ncommand = "/bin/true"\n');
  const { code, stderr } = await command(project, ['flow', '--budget', '0']);
  expect(code).toBe(64);
  expect(stderr).toContain('The agent mine of START.md cannot be confined to the rights');
});

describe('a process of the sandbox with a network', () => {
  const waits = `echo x >> out/begun
until [ -e go ]; do sleep 0.05; done
echo "<result>$(wc -l < out/begun)</result>"`;
  const rights = '{ write: [out], network: [allowed.example] }';

  test('outlives Raymond, which adopts the step', async () => {
    const project = newProject(flow(rights, waits));
    const first = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has begun', () => project.lines('out/begun').length === 1);
    first.child.kill('SIGKILL');
    await first.ended;
    project.write('go', '');
    expect(await project.run(['resume', 'r'])).toMatchObject({ code: 0, stdout: '1\n' });
  });

  test('ends with its step when the run is stopped', async () => {
    const project = newProject(flow(rights, waits));
    const life = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has begun', () => project.lines('out/begun').length === 1);
    life.child.kill('SIGTERM');
    expect(await life.ended).toMatchObject({ code: 130 });
    expect(await processesLeft(project.folder)).toEqual([]);
  });

  test('begins again when a resume narrows its rights', async () => {
    const project = newProject(flow('{ write: [out, more] }', `echo x > more/made; ${waits}`));
    const first = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has begun', () => project.lines('out/begun').length === 1);
    first.child.kill('SIGKILL');
    await first.ended;
    const resumed = project.start(['resume', 'r', '--rights', '{ write: [out] }']);
    await eventually('it has begun again', () => project.lines('out/begun').length === 2);
    project.write('go', '');
    const { code, stdout, stderr } = await resumed.ended;
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '2\n' });
    expect(stderr).toContain('its rights are narrower');
    expect(stderr).toContain('the sandbox refused: write more/made');
  });
});

function configure({ userConfig }: Project, text: string): void {
  mkdirSync(userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(userConfig, 'config.toml'), text, { mode: 0o600 });
}
