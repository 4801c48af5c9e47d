import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { BIN, sandbox } from './sandbox.ts';

const { path, write, raymond } = sandbox();

/** The completions that a real bash offers for a command line, with the cursor at its end. */
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

/** Calls the registered function in the same way as bash does. */
const ASK = `
function=$(complete -p raymond | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"$function"
printf '%s\\n' "\${COMPREPLY[@]}"
`;

test('bash completes commands, options, run ids and templates', async () => {
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
  expect(await offered('raymond init rel')).toEqual(['release-approval']);
});

const EVIL = ['$(touch evil)', '`touch evil`', ';touch evil', 'a\ntouch evil', '-evil', '$IFS'];

test('only names that can be run ids are completed', async () => {
  write(Object.fromEntries(EVIL.map((name) => [`.raymond/state/${name}.jsonl`, ''])));
  write({ '.raymond/state/prüfung-1.jsonl': '' });
  expect(await offered('raymond show ')).toEqual(['prüfung-1']);
  expect((await raymond('list')).stdout).not.toContain('evil');
});

test('bash quotes every completion', async () => {
  const { stdout: script } = await raymond('completion', 'bash');
  write({
    'bin/raymond': `#!/bin/sh\nprintf '%s\\n' '$(touch evil)' '\`touch evil\`' 'a;touch evil'\n`,
  });
  chmodSync(path('bin/raymond'), 0o755);
  // Evaluates each word, as bash would after the return key.
  const evaluate = `COMP_WORDS=(raymond '') COMP_CWORD=1; _raymond
    for word in "\${COMPREPLY[@]}"; do eval "printf '%s\n' $word"; done`;
  const bash = spawnSync('/bin/bash', ['--norc', '-c', `${script}\n${evaluate}`], {
    cwd: path('.'),
    env: { ...process.env, PATH: `${path('bin')}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  expect(bash.stderr).toBe('');
  expect(bash.stdout).toBe('$(touch evil)\n`touch evil`\na;touch evil\n');
  expect(existsSync(path('evil'))).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'the tab and return keys at a real terminal execute nothing',
  async () => {
    write({ '.raymond/state/$(>evil).jsonl': '' });
    const { stdout: script } = await raymond('completion', 'bash');
    write({
      'bin/raymond': `#!/bin/sh\nif [ "$1" = __complete ]; then echo '$(>evil)'; else echo "was given: $2"; fi\n`,
      rc: `${script}\nPS1='ready> '\n`,
    });
    chmodSync(path('bin/raymond'), 0o755);
    const terminal = spawn('script', ['-qefc', 'bash --noprofile --rcfile rc -i', '/dev/null'], {
      cwd: path('.'),
      env: { ...process.env, PATH: `${path('bin')}:${process.env.PATH}`, TERM: 'dumb' },
    });
    let screen = '';
    terminal.stdout.setEncoding('utf8').on('data', (text) => {
      screen += text;
    });
    const ended = new Promise((resolve) => terminal.once('close', resolve));
    await eventually('bash is ready', () => screen.includes('ready> '));
    terminal.stdin.write('raymond show \t');
    await eventually('the word is completed', () => screen.includes('evil'));
    terminal.stdin.write('\rexit\r');
    await ended;
    expect(screen).toContain('was given: $(>evil)');
    expect(existsSync(path('evil'))).toBe(false);
  },
);

test.each(['bash', 'zsh', 'fish'])('%s has a completion script', async (shell) => {
  const { code, stdout } = await raymond('completion', shell);
  expect(code).toBe(0);
  expect(stdout).toContain('raymond __complete --');
});

test('an unknown shell gets a list of the known ones', async () => {
  const { code, stderr } = await raymond('completion', 'tcsh');
  expect(code).toBe(64);
  expect(stderr).toContain('There is no completion script for "tcsh".');
  expect(stderr).toContain('Name one of bash, zsh, fish.');
});
