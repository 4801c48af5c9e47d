/** The directories and workflows that an agent may choose. A rehearsed answer replaces the agent's answer. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const EVIL =
  '#!/bin/bash\ntouch "$RAYMOND_TASK_FOLDER/../../../../../owned"\necho "<result>owned</result>"\n';
const PROMPT = (answer: string, policy = '') => ({
  'flow/ASK.md': `---\n${policy}\n---\nGo on.`,
  'flow/rehearsal.yaml': JSON.stringify({ answers: { ASK: answer } }),
});
const REHEARSE = ['flow', '--rehearse', '--scripts', '--workflow-id', 'one'];

/** A run whose first step writes a workflow, as an agent can, and whose second step enters it. */
function writesFirst(answer: string, policy?: string, write = `cp -r seed made`) {
  return newProject({
    'seed/START.sh': EVIL,
    'seed/one.yaml': JSON.stringify({ states: { START: { sh: EVIL } } }),
    'kept/START.sh': `echo '<result>kept</result>'`,
    'flow/START.sh': `${write}; echo '<goto>ASK</goto>'`,
    ...PROMPT(answer, policy),
  });
}

const ENTERS = '<reset-workflow>../made</reset-workflow>';

test.each([
  ['written', undefined, undefined],
  ['edited', 'cp seed/START.sh kept/START.sh; ln -sfn kept made', undefined],
  ['edited and made to look old', 'cp -rp seed made; touch -d 2001-01-01 made/START.sh', undefined],
  ['moved into its place', 'cp -r seed x && mv x made', undefined],
  [
    'put into one file',
    'cp seed/one.yaml made.yaml',
    '<reset-workflow>../made.yaml</reset-workflow>',
  ],
])('a workflow that was %s after the run began is not entered', async (_, write, answer) => {
  const project = writesFirst(answer ?? ENTERS, undefined, write);
  const { code, stderr } = await command(project, REHEARSE);
  expect(stderr).toContain('was created or changed after the run began');
  expect({ code, owned: existsSync(project.path('owned')) }).toEqual({ code: 1, owned: false });
});

test('it is not entered after a retry or a resume either', async () => {
  const project = writesFirst(ENTERS);
  await command(project, REHEARSE);
  for (const _ of [1, 2]) {
    const { code, stderr } = await command(project, ['resume', 'one']);
    expect(stderr).toContain('was created or changed after the run began');
    expect(code).toBe(1);
  }
  expect(existsSync(project.path('owned'))).toBe(false);
});

test('an agent can enter a workflow that the policy names', async () => {
  const project = writesFirst(
    ENTERS,
    'allowed_transitions: [{tag: reset-workflow, path: ../made}]',
  );
  expect(await command(project, REHEARSE)).toMatchObject({ code: 0, stdout: 'owned\n' });
});

test('a policy that names no path is refused', async () => {
  const project = writesFirst(
    ENTERS,
    'allowed_transitions: [{tag: reset-workflow}, {tag: result}]',
  );
  const { code, stderr } = await command(project, REHEARSE);
  expect(code).toBe(64);
  expect(stderr).toMatch(/\.md:2:23: error: <reset-workflow>: the path is missing\./);
  expect(existsSync(project.path('owned'))).toBe(false);
});

test('a workflow that was in the project before is entered', async () => {
  const project = writesFirst('<reset-workflow>../kept</reset-workflow>');
  expect(await command(project, REHEARSE)).toMatchObject({ code: 0, stdout: 'kept\n' });
});

function elsewhere(): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-elsewhere-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test.each([
  ['cd', (path: string) => `<reset cd="${path}">END</reset>`, 'reset, target: END, cd'],
  [
    'a workflow',
    (path: string) => `<reset-workflow>${path}</reset-workflow>`,
    'reset-workflow, path',
  ],
])(
  '%s: outside of the project only with a policy, and never through a link',
  async (_, tag, pin) => {
    const outside = elsewhere();
    const files = {
      'flow/START.sh': `echo '<goto>ASK</goto>'`,
      'flow/END.sh': `echo "<result>in $PWD</result>"`,
    };
    execFileSync('bash', [
      '-c',
      `echo 'echo "<result>elsewhere</result>"' > '${outside}/START.sh'`,
    ]);

    const direct = newProject({ ...files, ...PROMPT(tag(outside)) });
    expect(await command(direct, REHEARSE)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('outside the project'),
    });

    const linked = newProject({
      ...files,
      ...PROMPT(tag(tag('').includes('cd') ? 'link' : '../link')),
    });
    symlinkSync(outside, linked.path('link'));
    expect(await command(linked, REHEARSE)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('outside the project'),
    });

    const pinned = newProject({
      ...files,
      ...PROMPT(tag(outside), `allowed_transitions: [{tag: ${pin}: "${outside}"}]`),
    });
    expect((await command(pinned, REHEARSE)).code).toBe(0);
  },
);

test('an agent may go to other worktrees of the repository, and a script anywhere', async () => {
  const tree = join(elsewhere(), 'tree');
  const outside = elsewhere();
  const project = newProject({
    'flow/START.sh': `echo '<reset cd="${outside}">BACK</reset>'`,
    'flow/BACK.sh': `echo "<goto>ASK</goto>"`,
    'flow/END.sh': `echo "<result>in $PWD</result>"`,
    ...PROMPT(`<reset cd="${tree}">END</reset>`),
  });
  rmSync(project.path('.git'), { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: project.folder,
    });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'x');
  git('worktree', 'add', '-q', tree);
  expect(await command(project, REHEARSE)).toMatchObject({ code: 0, stdout: `in ${tree}\n` });
});

test('a workflow that the author named is read before an agent can change it', async () => {
  const project = newProject({
    'flow/START.sh': `printf 'Say <result>changed</result>.' > other/START.md; echo '<goto>ASK</goto>'`,
    ...PROMPT(
      '<reset-workflow>../other</reset-workflow>',
      'allowed_transitions: [{tag: reset-workflow, path: ../other}]',
    ),
    'other/START.md': 'Say <result>as it was</result>.',
  });
  expect(await command(project, REHEARSE)).toMatchObject({ code: 0, stdout: 'as it was\n' });
});

test('a resume does not use the changes of an agent either', async () => {
  const project = newProject({
    'flow/START.sh': `printf 'Say <result>changed</result>.' > other/START.md; echo '<goto>ASK</goto>'`,
    ...PROMPT(
      '<reset-workflow>../other</reset-workflow>',
      'allowed_transitions: [{tag: reset-workflow, path: ../other}]',
    ),
    'other/START.md': 'Say <result>as it was</result>.',
  });
  expect((await command(project, [...REHEARSE, '--max-iterations', '1'])).code).toBe(3);
  expect(await command(project, ['resume', 'one', '--max-iterations', '9'])).toMatchObject({
    stderr: expect.stringMatching(/other: START\.md[\s\S]*--accept-changes/),
  });
});
