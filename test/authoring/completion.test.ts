import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BIN, sandbox } from './sandbox.ts';

const { path, write, raymond } = sandbox();

/** What a real bash offers for a command line, with the cursor at its end. */
async function offered(line: string): Promise<readonly string[]> {
  const { stdout: script } = await raymond('completion', 'bash');
  write({ 'bin/raymond': `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n` });
  chmodSync(path('bin/raymond'), 0o755);
  const words = line.split(' ');
  const bash = spawnSync('/bin/bash', ['--norc', '-c', `${script}\n${ASK}`, 'bash', ...words], {
    cwd: path('.'),
    env: { ...process.env, PATH: `${path('bin')}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  expect(bash.stderr).toBe('');
  return bash.stdout.split('\n').filter((word) => word !== '');
}

/** Calls the function that was registered, the way in which bash does. */
const ASK = `
function=$(complete -p raymond | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"$function"
printf '%s\\n' "\${COMPREPLY[@]}"
`;

test('bash is offered commands, options, run ids and templates', async () => {
  write({ 'flow/START.md': 'Say <result>hello</result>.' });
  await raymond('flow', '--rehearse', '--workflow-id', 'flow-1');
  await raymond('flow', '--rehearse', '--workflow-id', 'flow-2');

  expect(await offered('raymond re')).toEqual(['resume']);
  expect(await offered('raymond ')).toEqual(
    expect.arrayContaining(['run', 'resume', 'list', 'test', 'init', 'completion']),
  );
  expect(await offered('raymond ')).not.toContain('__complete');
  expect(await offered('raymond show ')).toEqual(['flow-1', 'flow-2']);
  expect(await offered('raymond show flow-2')).toEqual(['flow-2']);
  expect(await offered('raymond answer flow-1 ')).toEqual([]);
  expect(await offered('raymond flow --rehears')).toEqual(['--rehearse', '--rehearsal']);
  expect(await offered('raymond flow --model ')).toEqual(['opus', 'sonnet', 'haiku']);
  expect(await offered('raymond test flow --record ')).toEqual(['flow-1', 'flow-2']);
  expect(await offered('raymond init hu')).toEqual(['human-approval']);
});

test('a run with an evil name is offered as it is, and not executed', async () => {
  write({ '.raymond/state/$(touch evil) b.jsonl': '' });
  expect(await offered('raymond show ')).toEqual(['$(touch evil) b']);
  expect((await raymond('completion', 'bash')).code).toBe(0);
  expect(spawnSync('ls', [path('.')], { encoding: 'utf8' }).stdout).not.toContain('evil');
});

test.each(['bash', 'zsh', 'fish'])('there is a script for %s', async (shell) => {
  const { code, stdout } = await raymond('completion', shell);
  expect(code).toBe(0);
  expect(stdout).toContain('raymond __complete --');
});

test('another shell is told what there is', async () => {
  const { code, stderr } = await raymond('completion', 'tcsh');
  expect(code).toBe(64);
  expect(stderr).toContain('There is no completion for "tcsh".');
  expect(stderr).toContain('Name one of bash, zsh, fish.');
});
