import { createHash } from 'node:crypto';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { identify, isAlive, self } from '../../src/execute/process/index.ts';
import {
  anyAlive,
  begun,
  makeFolder,
  plain,
  recordFiles,
  stateOf,
  steps,
  text,
  until,
} from './fixtures/steps.ts';

/** For each way to start a process. */
export function launchTests(): void {
  const { path, folder, start, bash, adopt, endLeftovers, identities } = steps();

  test('output and exit code are in the step’s folder, and only the user can read them', async () => {
    const here = folder();
    const step = bash('echo said; echo complained >&2; exit 3', { folder: here });
    expect(await step.ended).toEqual({ kind: 'exited', code: 3 });
    expect([text(step.stdout.path), text(step.stderr.path)]).toEqual(['said\n', 'complained\n']);
    for (const name of ['stdout', 'stderr', ...recordFiles(step)]) {
      expect([name, statSync(`${here}/${name}`).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(statSync(here).mode & 0o777).toBe(0o700);
  });

  test('the command gets its arguments, directory and environment unchanged', async () => {
    const args = ['', ' ', "it's", '"$HOME"', '`x`', '$(x)', '*', '-n', '--', 'ä\nb', '\\'];
    const cwd = makeFolder(path('in here'));
    const odd = {
      REPLY: 'r',
      'WITH-DASH': 'd',
      BASH_ENV: '/nowhere',
      EMPTY: '',
      'BASH_FUNC_x%%': '() { :; }',
    };
    const show = 'console.log(JSON.stringify([process.argv.slice(1), process.cwd(), process.env]))';
    const step = start({
      command: process.execPath,
      args: ['-e', show, '--', ...args],
      cwd,
      env: { ...plain.env, ...odd },
    });
    await step.ended;
    const [seenArgs, seenCwd, seenEnv] = JSON.parse(text(step.stdout.path));
    expect(seenArgs).toEqual(args);
    expect(seenCwd).toBe(cwd);
    expect(seenEnv).toMatchObject({ ...odd, PATH: plain.env.PATH });
    expect(text(step.stderr.path)).toBe('');
  });

  test('standard input can be a file of 1 MB', async () => {
    const input = Buffer.alloc(1024 * 1024, 'zwölf Boxkämpfer ');
    writeFileSync(path('prompt'), input);
    const step = start({ command: 'cat', stdin: { file: path('prompt') } });
    expect(await step.ended).toEqual({ kind: 'exited', code: 0 });
    const hash = (file: string) => createHash('sha256').update(text(file)).digest('hex');
    expect(hash(step.stdout.path)).toBe(hash(path('prompt')));
  });

  test('a pipe stays open for several messages', async () => {
    const step = bash('while read -r line; do echo "got $line"; done', { stdin: 'pipe' });
    step.stdin?.write('one\n');
    await until(() => text(step.stdout.path) === 'got one\n');
    step.stdin?.write('two\n');
    await until(() => text(step.stdout.path).endsWith('got two\n'));
    step.stdin?.end();
    expect(await step.ended).toEqual({ kind: 'exited', code: 0 });
  });

  test('writing to a process that does not read its input causes no error', async () => {
    const step = start({ stdin: 'pipe' });
    step.stdin?.write(Buffer.alloc(8 * 1024 * 1024));
    expect(await step.ended).toEqual({ kind: 'exited', code: 0 });
  });

  test('without input, standard input is empty', async () => {
    const step = start({ command: 'cat' });
    expect(await step.ended).toEqual({ kind: 'exited', code: 0 });
  });

  test.each([
    [137, 'kill -9 $$'],
    [139, 'kill -SEGV $$'],
    [143, 'kill $$'],
    [137, 'kill -9 0'],
    [130, 'kill -INT 0'],
    [143, 'kill -TERM 0'],
    [138, 'kill -USR1 0'],
    [129, 'kill -HUP 0'],
  ])('a signal that ends the command gives exit code %d (%s)', async (code, script) => {
    const step = bash(script);
    expect(await step.ended).toEqual({ kind: 'exited', code });
    expect(text(step.stderr.path)).toBe('');
  });

  test('when the wrapper is killed, the exit is unknown', async () => {
    const step = bash('kill -9 $PPID; exec sleep 300');
    expect(await step.ended).toEqual({ kind: 'unknown' });
    expect(await step.stop()).toEqual([]);
  });

  test('writing the record of the end needs no further space on the disk', async () => {
    const here = folder();
    const step = bash('until [ -e go ]; do sleep 0.02; done', { folder: here });
    const sizes = () => recordFiles(step).map((name) => statSync(`${here}/${name}`).size);
    await begun(step);
    const before = sizes();
    writeFileSync(path('go'), '');
    await step.ended;
    expect(sizes()).toEqual(before);
  });

  test('a command that is stopped and continued has not ended', async () => {
    const step = bash('echo $$ >pid; until [ -e go ]; do sleep 0.02; done; exit 5');
    const [command] = await identities('pid', 1);
    if (command === undefined) throw new Error('not launched');
    let hasEnded = false;
    step.ended.then(() => {
      hasEnded = true;
    });
    process.kill(command.pid, 'SIGSTOP');
    await until(() => stateOf(command.pid).startsWith('T'));
    process.kill(command.pid, 'SIGCONT');
    await until(() => stateOf(command.pid).startsWith('S'));
    expect(hasEnded).toBe(false);
    writeFileSync(path('go'), '');
    expect(await step.ended).toEqual({ kind: 'exited', code: 5 });
  });

  test.each([126, 127])('a program’s own exit %d is not a failure to start', async (code) => {
    expect(await bash(`exit ${code}`).ended).toEqual({ kind: 'exited', code });
  });

  test.each([
    ['a missing program', { command: 'no-such-program' }, /no program no-such-program/],
    ['a missing file', { command: '/no/such/file' }, /no program \/no\/such\/file/],
    ['a builtin of the shell', { command: 'shopt' }, /no program shopt/],
    ['a folder', { command: '/' }, /\/ cannot be executed/],
    ['a missing directory', { cwd: '/no/such/folder' }, /no folder \/no\/such\/folder/],
    ['a file as directory', { cwd: process.execPath }, /no folder/],
    ['a missing input', { stdin: { file: '/no/such/input' } }, /\/no\/such\/input/],
    ['an argument that is too long', { args: ['x'.repeat(8_000_000)] }, /E2BIG/],
    ['an argument with NUL', { args: ['\0'] }, /null bytes/],
  ] as const)('%s is reported as unstarted, not as an exit code', async (_, wanted, reason) => {
    const step = start(wanted);
    expect(await step.ended).toEqual({ kind: 'unstarted', reason: expect.stringMatching(reason) });
    expect(await step.stop()).toEqual([]);
  });

  test('a file that is not executable, or whose interpreter is missing, is reported as unstarted', async () => {
    writeFileSync(path('plain'), 'echo never');
    writeFileSync(path('orphan'), '#!/no/such/interpreter\n');
    chmodSync(path('orphan'), 0o755);
    for (const command of [path('plain'), path('orphan')]) {
      expect(await start({ command }).ended).toMatchObject({ kind: 'unstarted' });
    }
  });

  test('a folder cannot be used for a second process', async () => {
    const here = folder();
    await start({ folder: here }).ended;
    expect(() => start({ folder: here })).toThrow(/already has a process/);
  });

  test('the end of the command counts, not the end of its background jobs', async () => {
    const here = folder();
    const step = bash('sleep 300 & echo $! >jobs; echo done', { folder: here });
    expect(await step.ended).toEqual({ kind: 'exited', code: 0 });
    const jobs = await identities('jobs', 1);
    expect(anyAlive(jobs)).toBe(true);
    expect(await endLeftovers(here)).toEqual([]);
    expect(anyAlive(jobs)).toBe(false);
  });

  test('leftovers end even if they are daemons that ignore signals', async () => {
    const here = folder();
    const step = bash(`"$NODE" "$DAEMON" jobs; until [ -s jobs ]; do sleep 0.02; done`, {
      folder: here,
    });
    await step.ended;
    const jobs = await identities('jobs', 1);
    expect(await endLeftovers(here, 100)).toEqual([]);
    expect(anyAlive(jobs)).toBe(false);
  });

  test('a folder without a process has no leftovers and nothing to adopt', async () => {
    const empty = makeFolder(folder());
    expect(await endLeftovers(empty)).toEqual([]);
    expect(adopt(empty)).toBeUndefined();
    expect(adopt(path('missing'))).toBeUndefined();
  });

  test('isAlive compares the whole identity', async () => {
    const step = bash('sleep 300');
    const identity = await begun(step);
    expect(isAlive(identity)).toBe(true);
    expect(isAlive({ ...identity, started: `${identity.started}1` })).toBe(false);
    expect(isAlive({ ...identity, boot: 'another' })).toBe(false);
    await step.stop();
    expect(isAlive(identity)).toBe(false);
    expect(identify(identity.pid)).toBeUndefined();
  });

  test('self is the identity of this process', () => {
    expect(self().pid).toBe(process.pid);
    expect(isAlive(self())).toBe(true);
  });

  test('a zombie is not alive', async () => {
    // The shell turns into a program that never waits for its children. The child ends only after that,
    // because the shell itself might still wait for it.
    const hasBecome = 'ps -o comm= -p $$ | grep -q sleep';
    const step = bash(
      `(until ${hasBecome}; do sleep 0.01; done) & echo $! >zombie; exec sleep 300`,
    );
    await until(() => text(path('zombie')).endsWith('\n'));
    const pid = Number(text(path('zombie')));
    await until(() => identify(pid) === undefined);
    expect(() => process.kill(pid, 0)).not.toThrow();
    await step.stop();
  });
}
