import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { inSuite } from '../long.ts';
import { BIN, sandbox } from './sandbox.ts';
import { installed, openShell, SHELLS, type Shell, type ShellSession } from './shell-session.ts';

const { path, write, raymond, environment } = sandbox();

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

test('bash completes commands, options and run ids', async () => {
  write({ 'flow/START.md': 'Say <result>hello</result>.' });
  await raymond('flow', '--rehearse', '--workflow-id', 'flow-1');
  await raymond('flow', '--rehearse', '--workflow-id', 'flow-2');

  expect(await offered('raymond re')).toEqual(['resume', 'rewind']);
  expect(await offered('raymond show ')).toEqual(['flow-1', 'flow-2']);
  expect(await offered('raymond flow --rehears')).toEqual(['--rehearse', '--rehearsal']);
});

test.each<[line: string, words: readonly string[]]>([
  ['show flow-2', ['flow-2']],
  ['answer flow-1 ', []],
  ['flow --model ', ['opus', 'sonnet', 'haiku']],
  ['test flow --record ', ['flow-1', 'flow-2']],
  ['init rel', ['release-approval']],
  ['list --js', ['--json']],
  ['list --status cras', ['crashed']],
  ['diagram --run flow-1', ['flow-1']],
  ['logs flow-1 --agent ma', ['main']],
  ['lint fl', ['flow']],
])('the words for: raymond %s', async (line, words) => {
  write({ 'flow/START.md': 'Say <result>hello</result>.' });
  await raymond('flow', '--rehearse', '--workflow-id', 'flow-1');
  await raymond('flow', '--rehearse', '--workflow-id', 'flow-2');
  expect(await candidates(line)).toEqual(words);
});

test('the words for: raymond', async () => {
  const words = await candidates('');
  expect(words).toEqual(
    expect.arrayContaining(['run', 'resume', 'list', 'test', 'init', 'completion']),
  );
  expect(words).not.toContain('__complete');
});

/** The words that every shell gets. It passes what is typed, and filters by the last word. */
async function candidates(line: string): Promise<readonly string[]> {
  const typed = line.split(' ');
  const { stdout } = await raymond('__complete', '--', ...typed);
  const words = stdout.split('\n').filter((word) => word !== '' && !word.startsWith(':'));
  return words
    .map((word) => word.split('\t')[0] ?? '')
    .filter((word) => word.startsWith(typed.at(-1) ?? ''));
}

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

test('an unknown shell gets a list of the known ones', async () => {
  const { code, stderr } = await raymond('completion', 'tcsh');
  expect(code).toBe(64);
  expect(stderr).toContain('There is no completion script for "tcsh".');
  expect(stderr).toContain('Name one of bash, zsh, fish.');
});

/** A project with workflows, runs and agents, and names that must not act. */
async function fillProject(): Promise<void> {
  write({
    'hello/START.md': 'Say <goto>REVIEW</goto>.',
    'hello/REVIEW.md': 'Say <result>hello</result>.',
    'flows/second one/START.sh': `echo '<result>x</result>'`,
    'asks/START.sh': `echo '<fork next="ASK">OTHER</fork>'`,
    'asks/ASK.sh': `echo '<ask next="START">Which colour?</ask>'`,
    'asks/OTHER.sh': `echo '<result>x</result>'`,
    'e1$(touch evil)/START.md': 'x',
    "e2;touch evil 'x/START.md": 'x',
    'e3`touch evil`/START.md': 'x',
    'e4 *?&|<>/START.md': 'x',
    'e5\ntouch evil/START.md': 'x',
    'e6\x1b[31m/START.md': 'x',
  });
  await raymond('hello', '--rehearse', '--workflow-id', 'alpha-1');
  await raymond('asks', '--workflow-id', 'beta-2', '--no-wait');
}

/** The text that a person types before the tab key, and the words that the command gets. */
const TYPED = inSuite<readonly [string, readonly string[]]>(
  [
    ['raymond resu', ['resume']],
    ['raymond run hello --model=son', ['run', 'hello', '--model=sonnet']],
    ['raymond show al', ['show', 'alpha-1']],
    ['raymond answer ', ['answer', 'beta-2']],
    ['raymond hello/RE', ['hello/REVIEW']],
    ['raymond lint flows/', ['lint', 'flows/second one']],
    ['raymond lint e1', ['lint', 'e1$(touch evil)']],
    ['raymond lint e2', ['lint', "e2;touch evil 'x"]],
    ['raymond lint e3', ['lint', 'e3`touch evil`']],
    ['raymond lint e4', ['lint', 'e4 *?&|<>']],
  ],
  [
    ['raymond list --js', ['list', '--json']],
    ['raymond list --status cras', ['list', '--status', 'crashed']],
    ['raymond run hello --model son', ['run', 'hello', '--model', 'sonnet']],
    ['raymond answer beta-2 --agent ma', ['answer', 'beta-2', '--agent', 'main']],
    ['raymond logs beta-2 --agent main_', ['logs', 'beta-2', '--agent', 'main_other1']],
    ['raymond diagram --run al', ['diagram', '--run', 'alpha-1']],
    ['raymond lint hel', ['lint', 'hello']],
    ['raymond init rel', ['init', 'release-approval']],
  ],
);

test.each(SHELLS.filter((shell) => installed.has(shell)))(
  '%s completes commands, options, values, runs, agents, workflows and states, and quotes names',
  { timeout: 240_000 },
  async (shell) => {
    await fillProject();
    const session = await openSession(shell);
    for (const [line, words] of TYPED) {
      await session.complete(line);
      expect(await session.enter(), line).toEqual(words);
    }
    expect(existsSync(path('evil'))).toBe(false);
  },
);

test.each(SHELLS.filter((shell) => installed.has(shell) && shell !== 'bash'))(
  '%s shows the status of each run',
  async (shell) => {
    await fillProject();
    const session = await openSession(shell);
    await session.complete('raymond show ');
    await eventually('the runs are shown', () =>
      /alpha-1.*completed[\s\S]*beta-2.*waiting/.test(stripVTControlCharacters(session.screen())),
    );
  },
);

test.each(SHELLS.filter((shell) => installed.has(shell)))(
  '%s completes files where Raymond knows no word',
  async (shell) => {
    write({ 'some-answers.yaml': '' });
    const session = await openSession(shell);
    await session.complete('raymond hello --rehearsal some-');
    expect(await session.enter()).toEqual(['hello', '--rehearsal', 'some-answers.yaml']);
  },
);

test('completion executes nothing and reads no link, pipe or device', async () => {
  write({ 'evil.yaml': 'states:\n  START:\n    sh: touch evil\n' });
  symlinkSync('/', path('root'));
  spawnSync('mkfifo', [path('pipe.yaml')]);
  const { stdout } = await raymond('__complete', '--', 'lint', '');
  expect(stdout).toContain('evil.yaml\tworkflow\n');
  expect(stdout).not.toContain('root');
  expect(stdout).not.toContain('pipe');
  expect(existsSync(path('evil'))).toBe(false);
});

async function openSession(shell: Shell): Promise<ShellSession> {
  const { stdout: script } = await raymond('completion', shell);
  const session = await openShell(shell, { folder: path('.'), script, env: environment() });
  onTestFinished(session.close);
  return session;
}
