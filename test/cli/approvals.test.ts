/** Questions that several people answer with signatures of ssh. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { count } from './asking.ts';

const FLOW = {
  'flow/START.sh': `echo '<ask of="2" to="release" next="GO">Release 2.0?</ask>'`,
  'flow/GO.sh': `echo "<result>$RAYMOND_RESULT</result>"`,
};

/** Makes a key and gives its line of a list of approvers. */
function newKey(project: Project, name: string, options = ''): string {
  const file = join(project.userConfig, name);
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]);
  return `${name}@example.com ${options} ${readFileSync(`${file}.pub`, 'utf8')}`;
}

const keyOf = (project: Project, name: string) => join(project.userConfig, name);

function approvers(project: Project, ...lines: readonly string[]): void {
  const folder = join(project.userConfig, 'approvers');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'release'), lines.join(''), { mode: 0o600 });
}

const sign = (project: Project, run: string, text: string, name: string) =>
  command(project, ['answer', run, text, '--sign', keyOf(project, name)]);

test('two of the named people answer together, here and from elsewhere', async () => {
  const project = newProject(FLOW);
  approvers(project, ...['ann', 'bob', 'eve'].map((name) => newKey(project, name)));
  const asked = await command(project, ['flow', '--workflow-id', 'r']);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain(
    '[raymond answer r "..." --sign KEY, needs 2 signatures of release]: Release 2.0?',
  );

  // Nothing else answers it: no text, no code, no input of a resume.
  expect(await command(project, ['answer', 'r', 'yes'])).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/needs 2 signatures of release; signed: none yet.*--sign/s),
  });
  expect(await command(project, ['resume', 'r', '--input', 'yes'])).toMatchObject({ code: 2 });
  expect(count(project, 'r', 'agent-answered')).toBe(0);

  expect((await sign(project, 'r', 'yes', 'ann')).stderr).toBe(
    [
      'ann@example.com has signed the answer to main of r.',
      'More signatures are needed. Who can sign: bob@example.com, eve@example.com',
      '',
    ].join('\n'),
  );
  expect(await sign(project, 'r', 'no', 'ann')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('ann@example.com has already signed'),
  });
  expect(await command(project, ['resume', 'r'])).toMatchObject({ code: 2 });
  expect(project.journal('r')).toContainEqual(
    expect.objectContaining({ type: 'answer-signed', by: 'ann@example.com', text: 'yes' }),
  );
  expect((await command(project, ['show', 'r'])).stdout).toContain(
    'needs 2 signatures of release; signed: ann@example.com ("yes")',
  );
  expect(await sign(project, 'r', 'yes', 'ann')).toMatchObject({ code: 64 });

  // The other one signs on another machine, with nothing but ssh.
  const { stdout: text } = await command(project, ['answer', 'r', 'yes', '--to-sign']);
  const file = join(project.userConfig, 'text');
  writeFileSync(file, text);
  const args = ['-q', '-Y', 'sign', '-n', 'raymond', '-f', keyOf(project, 'bob'), file];
  execFileSync('ssh-keygen', args, { stdio: 'ignore' });
  const given = ['answer', 'r', 'yes', '--signature', `${file}.sig`, '--json'];
  expect(JSON.parse((await command(project, given)).stdout)).toEqual({
    workflow_id: 'r',
    agent: 'main',
    answered: true,
    signed: [
      { by: 'ann@example.com', answer: 'yes' },
      { by: 'bob@example.com', answer: 'yes' },
    ],
    missing: ['eve@example.com'],
  });
  expect(await command(project, ['resume', 'r'])).toMatchObject({ code: 0, stdout: 'yes\n' });
  expect(project.journal('r')).toContainEqual(
    expect.objectContaining({ type: 'agent-answered', by: 'ann@example.com, bob@example.com' }),
  );

  // The signature is for this run only.
  await command(project, ['flow', '--workflow-id', 's']);
  const other = ['answer', 's', 'yes', '--signature', `${file}.sig`];
  expect(await command(project, other)).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('it is for another run, another question or another answer'),
  });
});

test('a stranger, an expired key, a second name of a key and a missing list do not count', async () => {
  const project = newProject(FLOW);
  const [ann, old] = [newKey(project, 'ann'), newKey(project, 'old', 'valid-before="20200101"')];
  newKey(project, 'stranger');
  await command(project, ['flow', '--workflow-id', 'r']);
  expect((await sign(project, 'r', 'yes', 'ann')).stderr).toContain(
    'There is no list of approvers',
  );
  approvers(project, ann, old);
  for (const name of ['stranger', 'old'])
    expect(await sign(project, 'r', 'yes', name)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('The signature does not count: no key of the list'),
    });
  expect(await sign(project, 'r', 'yes', 'ann')).toMatchObject({ code: 0 });
  approvers(project, ann.replace('ann@', 'second@'), old);
  expect((await sign(project, 'r', 'yes', 'ann')).stderr).toContain('has already signed');
  expect(await command(project, ['resume', 'r'])).toMatchObject({ code: 2 });
});

test('people who disagree have not answered', async () => {
  const project = newProject(FLOW);
  approvers(project, ...['ann', 'bob', 'eve'].map((name) => newKey(project, name)));
  await command(project, ['flow', '--workflow-id', 'r']);
  await sign(project, 'r', 'yes', 'ann');
  await sign(project, 'r', 'no', 'bob');
  expect(await command(project, ['resume', 'r'])).toMatchObject({ code: 2 });
  await sign(project, 'r', 'no', 'eve');
  expect(await command(project, ['resume', 'r'])).toMatchObject({ code: 0, stdout: 'no\n' });
});

test('a rehearsal plays the people, and a rewind asks for new signatures', async () => {
  const project = newProject(FLOW);
  expect(await command(project, ['flow', '--rehearse', '--scripts'])).toMatchObject({ code: 0 });
  expect(existsSync(join(project.userConfig, 'approvers'))).toBe(false);
});
