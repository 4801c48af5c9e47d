// One shell starts all scripts of a run. Whatever happens to it, or to Raymond, a script begins once at
// most, and whatever began is found.
import { spawn } from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { isAlive, type Launch, RunProcesses, self } from '../../src/execute/process/index.ts';
import { readLaunch, writeLaunch } from '../../src/execute/process/launch-file.ts';
import { FIRST_CHANNEL, launcherCode, stepCode } from '../../src/execute/process/launcher-shell.ts';
import { makeFiles } from '../../src/execute/process/spare-folders.ts';
import { system } from '../../src/execute/process/system.ts';
import { isLong } from '../long.ts';
import { STEP_KEY } from '../step-key.ts';
import { anyAlive, begun, plain, steps, text, until } from './fixtures/steps.ts';

const { path, folder, own, identities, adopt, processes } = steps();

function newRun(table = system, isNew = false): RunProcesses {
  const run = new RunProcesses(path('.'), { system: table, key: STEP_KEY, isNew });
  onTestFinished(() => run.close());
  return run;
}

const script = (code: string, more: Partial<Launch> = {}): Launch => ({
  ...plain,
  folder: folder(),
  cwd: path('.'),
  command: '/bin/bash',
  args: ['-c', code],
  ...more,
});

const launcherOf = (one: Launch): number => {
  const found = readLaunch(one.folder);
  if (!found) throw new Error(`${one.folder} was not launched by a launcher.`);
  return found.note.launcher;
};

/** Records that it ran. Exits with its own code when the file `go` exists. */
const waiting = (n: number) =>
  script(`echo ${n} >>ran; until [ -e go ]; do sleep 0.05; done; exit ${n}`);

const ran = () => (existsSync(path('ran')) ? text(path('ran')).trim().split('\n').map(Number) : []);

test('when the launcher is killed, its commands continue, and another launcher starts the rest', async () => {
  const run = newRun();
  const wanted = [1, 2, 3, 4, 5].map(waiting);
  const all = wanted.map((one) => own(run.submit(one)));
  await until(() => ran().length === 5);
  const launcher = launcherOf(wanted[0] ?? script(''));
  process.kill(launcher, 'SIGKILL');

  // Until Raymond has noticed, one may get the witness that waits for a command, and others a wrapper.
  const isNew = (one: Launch) => {
    const found = readLaunch(one.folder)?.note.launcher;
    return found !== undefined && found !== launcher;
  };
  const rest: Launch[] = [];
  while (!rest.some(isNew) && rest.length < 50) {
    const number = 6 + rest.length;
    const one = waiting(number);
    rest.push(one);
    all.push(own(run.submit(one)));
    await until(() => ran().length === number);
  }
  expect(rest.some(isNew)).toBe(true);
  writeFileSync(path('go'), '');
  const ends = await Promise.all(all.map((step) => step.ended));
  expect(ends).toEqual(all.map((_, index) => ({ kind: 'exited', code: index + 1 })));
  expect(ran().sort((a, b) => a - b)).toEqual(all.map((_, index) => index + 1));
});

test('a command that replaces its record neither hides its end nor writes to another file', async () => {
  const run = newRun();
  const one = script(
    'mv "$STEP/launch" "$STEP/kept"; ln -s "$STEP/../precious" "$STEP/launch"; exit 7',
  );
  writeFileSync(path('precious'), 'kept');
  const step = own(run.submit({ ...one, env: { ...plain.env, STEP: one.folder } }));
  expect(await step.ended).toEqual({ kind: 'exited', code: 7 });
  expect(text(path('precious'))).toBe('kept');
  fs.renameSync(join(one.folder, 'kept'), join(one.folder, 'launch'));
  expect(await adopt(one.folder)?.ended).toEqual({ kind: 'exited', code: 7 });
});

test.each([0, 1, 5, 20])(
  'a launcher that is killed when it has begun %d of many loses none and repeats none',
  async (count) => {
    const run = newRun();
    const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
    const wanted = numbers.map((n) => script(`echo ${n} >>ran; exit ${n}`));
    const all = wanted.map((one) => own(run.submit(one)));
    await until(() => ran().length >= count);
    process.kill(launcherOf(wanted[0] ?? script('')), 'SIGKILL');
    const ends = await Promise.all(all.map((step) => step.ended));
    expect(ends).toEqual(numbers.map((code) => ({ kind: 'exited', code })));
    expect(ran().sort((a, b) => a - b)).toEqual(numbers);
  },
);

test('a command that is stopped before it begins never begins', async () => {
  const run = newRun();
  const first = script('true');
  await own(run.submit(first)).ended;
  process.kill(launcherOf(first), 'SIGSTOP');
  const wanted = script('echo 1 >>ran');
  const step = own(run.submit(wanted));
  expect(await step.stop()).toEqual([]);
  expect(await step.ended).toMatchObject({ kind: 'unstarted' });
  process.kill(launcherOf(first), 'SIGCONT');
  await run.close();
  await until(() => run.strays().length === 0);
  expect(ran()).toEqual([]);
});

test('a command that a new Raymond has given up does not begin later, and can begin again', async () => {
  const run = newRun();
  const first = script('true');
  await own(run.submit(first)).ended;
  process.kill(launcherOf(first), 'SIGSTOP');
  const wanted = script('echo 1 >>ran; exit 3');
  run.submit(wanted);
  run.leave();

  const next = newRun();
  expect(adopt(wanted.folder, next)).toBeUndefined();
  const again = own(next.submit(wanted));
  process.kill(launcherOf(first), 'SIGCONT');
  expect(await again.ended).toEqual({ kind: 'exited', code: 3 });
  await run.close();
  await until(() => next.strays().length === 0);
  expect(ran()).toEqual([1]);
  expect(await adopt(wanted.folder, next)?.ended).toEqual({ kind: 'exited', code: 3 });
});

const bundle = mkdtempSync(join(tmpdir(), 'raymond-launcher-'));
const raymondFile = join(bundle, 'raymond.mjs');

beforeAll(() =>
  build({
    entryPoints: [fileURLToPath(new URL('./fixtures/launcher.ts', import.meta.url))],
    outfile: raymondFile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  }),
);

afterAll(() => rmSync(bundle, { recursive: true }));

/** A Raymond that submits and is killed; resolves with whether it had said that all is submitted. */
async function killedRaymond(crashPoint: number, wanted: readonly Launch[]): Promise<boolean> {
  const args = wanted.map((one) => JSON.stringify(one));
  const child = spawn(process.execPath, [raymondFile, String(crashPoint), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WAY: 'submit' },
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const said = new Promise<boolean>((resolve) => {
    child.stdout.once('data', () => resolve(true));
    child.once('close', () => resolve(false));
  });
  const hasSaid = await said;
  child.kill('SIGKILL');
  await closed;
  return hasSaid;
}

test('Raymond is killed before and after every call: each command runs once, adopted or repeated', async () => {
  let count = 0;
  for (let crashPoint = 0, isOver = false; !isOver; crashPoint += isLong ? 1 : 3) {
    const wanted = [++count, ++count].map((n) => script(`echo ${n} >>ran; exit 9`));
    isOver = await killedRaymond(crashPoint, wanted);
    const next = newRun();
    const all = wanted.map((one) => own(adopt(one.folder, next) ?? next.submit(one)));
    for (const [index, one] of wanted.entries()) {
      const end = await all[index]?.ended;
      // As the script executor does with a step that was interrupted before it began.
      if (end?.kind === 'unstarted') await own(next.submit({ ...one, folder: folder() })).ended;
      else expect(end).toEqual({ kind: 'exited', code: 9 });
    }
    await next.close();
  }
  expect(count).toBeGreaterThan(isLong ? 20 : 7);
  await until(() => processes().strays().length === 0);
  expect(ran().sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n + 1));
});

test('a script that starts hundreds of children is stopped with all of them', async () => {
  const run = newRun();
  const step = own(
    run.submit(script('for ((n = 0; n < 300; n++)); do sleep 300 & echo $! >>jobs; done; wait')),
  );
  const jobs = await identities('jobs', 300);
  expect(await step.stop(2000)).toEqual([]);
  expect(anyAlive(jobs)).toBe(false);
});

test.each([
  ['an old run', false],
  ['a new run', true],
])(
  'background jobs end with their step; what left the group is found at the end of %s',
  async (_, isNew) => {
    const run = newRun(system, isNew);
    const code =
      'sleep 300 & echo $! >>jobs; "$NODE" "$DAEMON" daemons; until [ -s daemons ]; do sleep 0.02; done';
    const step = own(run.submit(script(code)));
    await step.ended;
    const jobs = await identities('jobs', 1);
    const daemons = await identities('daemons', 1);
    expect(await step.endLeftovers()).toEqual([]);
    expect(anyAlive(jobs)).toBe(false);
    await run.close();
    expect(await run.endStrays(100)).toEqual([]);
    expect(anyAlive(daemons)).toBe(false);
  },
);

test('at the end of a new run, older processes are not read; after an adoption, all are', async () => {
  const read: (string | undefined)[] = [];
  const table = {
    ...system,
    survey: (since?: string) => {
      read.push(since);
      return system.survey(since);
    },
  };
  const run = newRun(table, true);
  const wanted = script('exit 3');
  await own(run.submit(wanted)).ended;
  await run.close();
  await run.endStrays(100);
  expect(read).toEqual([self().started]);

  const next = newRun(table, true);
  expect(await adopt(wanted.folder, next)?.ended).toEqual({ kind: 'exited', code: 3 });
  await next.endStrays(100);
  expect(read.at(-1)).toBeUndefined();
});

const HOSTILE: readonly (readonly [string, string])[] = [
  ['NEWLINES', '\n a \n\n'],
  ['QUOTES', `it's "quoted" \\' \\\\ \``],
  ['CODE', '$(echo 1 >>ran) `echo 1 >>ran` ; echo 1 >>ran #'],
  ['BYTES', '\x01\x1b[31m\x7f ä 漢 \u{1f600}'],
  ['EMPTY', ''],
  ['IFS', 'x'],
  ['TMOUT', '1'],
  ['POSIXLY_CORRECT', '1'],
  ['PS4', '$(echo 1 >>ran)'],
  ['BASH_COMPAT', '31'],
  ['BASH_XTRACEFD', '1'],
  ['RAYMOND_FOLDER', '/nowhere'],
  ['RAYMOND_PID', '1'],
  ['RAYMOND_ID', '7'],
  ['REPLY', 'r'],
  ['LC_ALL', 'C'],
  ['OLDPWD', '/nowhere'],
];

test('every step has exactly its own environment, whatever is in it', async () => {
  const run = newRun();
  writeFileSync(path('env.sh'), 'echo 1 >>ran\n');
  const show = 'process.stdout.write(JSON.stringify(process.env))';
  const seen = async (env: Record<string, string>) => {
    const wanted = script('', { command: process.execPath, args: ['-e', show], env });
    const step = own(run.submit(wanted));
    expect(await step.ended).toEqual({ kind: 'exited', code: 0 });
    const { RAYMOND_STEP_TOKEN, SHLVL, _, PWD, ...rest } = JSON.parse(text(step.stdout.path));
    expect(RAYMOND_STEP_TOKEN).toMatch(/^[0-9a-f]{9}\./);
    return rest;
  };
  const hostile = { ...plain.env, ...Object.fromEntries(HOSTILE) };
  const withFile = { ...hostile, BASH_ENV: path('env.sh'), ENV: path('env.sh') };
  expect(await seen(withFile)).toEqual(withFile);
  expect(await seen(plain.env)).toEqual(plain.env);
  for (const [name, value] of HOSTILE) {
    const one = { ...plain.env, [name]: value };
    expect([name, await seen(one)]).toEqual([name, one]);
  }
  expect(ran()).toEqual([]);
});

test('a start file of the shell is read neither by the launcher nor by a wrapper', async () => {
  writeFileSync(path('.bashrc'), 'echo 1 >>ran; export LEAKED=1\n');
  writeFileSync(path('script.sh'), 'exit $((3 + LEAKED))\n');
  const run = newRun();
  const env = { ...plain.env, HOME: path('.'), SSH_CLIENT: '1' };
  const wanted = () => script('', { args: [path('script.sh')], env });
  const launched = own(run.launch({ ...wanted(), stdin: 'pipe' }));
  launched.stdin?.end();
  const submitted = own(run.submit(wanted()));
  expect(await launched.ended).toEqual({ kind: 'exited', code: 3 });
  expect(await submitted.ended).toEqual({ kind: 'exited', code: 3 });
  expect(ran()).toEqual([]);
});

test('files of a step are for its owner alone, and its umask is ours', async () => {
  const run = newRun();
  const one = script('umask');
  const before = process.umask(0o027);
  onTestFinished(() => void process.umask(before));
  const step = own(run.submit(one));
  await step.ended;
  expect(text(step.stdout.path)).toBe('0027\n');
  const modes = readdirSync(one.folder).map((name) => fs.statSync(join(one.folder, name)).mode);
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
});

test('a launcher whose witnesses are all kept for commands starts these commands', async () => {
  const run = newRun();
  const wanted = Array.from({ length: 40 }, (_, n) => script(`exit ${n}`));
  const prepared = wanted.map((one) => run.prepare(one));
  const ends = await Promise.all(prepared.map((one) => own(one.submit()).ended));
  expect(ends).toEqual(wanted.map((_, code) => ({ kind: 'exited', code })));
  expect(new Set(wanted.map(launcherOf)).size).toBe(2);
});

test('a few launchers start hundreds of parallel steps', async () => {
  const run = newRun();
  const wanted = Array.from({ length: isLong ? 1000 : 200 }, (_, n) =>
    script(`exit $((${n} % 100))`),
  );
  const all = wanted.map((one) => own(run.submit(one)));
  const ends = await Promise.all(all.map((step) => step.ended));
  expect(ends).toEqual(wanted.map((_, n) => ({ kind: 'exited', code: n % 100 })));
  expect(new Set(wanted.map(launcherOf)).size).toBeLessThanOrEqual(17);
});

test('a step costs the same few calls and files, however many there were, and no look at the table', async () => {
  let looks = 0;
  const survey = (since?: string) => {
    looks += 1;
    return system.survey(since);
  };
  const run = newRun({ ...system, survey });
  const one = async () => {
    const wanted = script('true');
    const step = own(run.submit(wanted));
    await step.ended;
    await step.endLeftovers();
    expect(readdirSync(wanted.folder).sort()).toEqual(['launch', 'stderr', 'stdout']);
  };
  // The fewest of some: a step costs more when no folder is ready for it, and once a second Raymond
  // looks whether commands have begun.
  const fewestCalls = async () => {
    const costs: number[] = [];
    for (let n = 0; n < 10; n++) {
      const counter = countCalls();
      await one();
      costs.push(counter.end());
    }
    return Math.min(...costs);
  };
  expect(await fewestCalls()).toBeLessThanOrEqual(12);
  for (let n = 0; n < 30; n++) await one();
  expect(await fewestCalls()).toBeLessThanOrEqual(12);
  expect(looks).toBe(0);
});

test('folders that were made ahead are gone with the run, also those of a killed Raymond', async () => {
  const run = newRun();
  mkdirSync(path('spare/7'), { recursive: true });
  for (const n of [1, 2, 3]) {
    const one = script(`exit ${n}`);
    expect(await own(run.submit(one)).ended).toEqual({ kind: 'exited', code: n });
    await until(() => existsSync(path('spare')));
  }
  expect(existsSync(path('spare/7'))).toBe(false);
  await run.close();
  expect(existsSync(path('spare'))).toBe(false);
});

/** Counts the calls to the file system. */
function countCalls(): { end(): number } {
  const names = ['openSync', 'mkdirSync', 'statSync', 'writeFileSync', 'renameSync'] as const;
  const more = ['realpathSync', 'existsSync', 'readlinkSync', 'unlinkSync', 'watch'] as const;
  let calls = 0;
  const originals = [...names, ...more].map((name) => {
    const original = fs[name];
    Object.assign(fs, {
      [name]: Object.assign((...args: unknown[]) => {
        calls += 1;
        return Reflect.apply(original, fs, args);
      }, original),
    });
    return [name, original] as const;
  });
  syncBuiltinESMExports();
  return {
    end() {
      for (const [name, original] of originals) Object.assign(fs, { [name]: original });
      syncBuiltinESMExports();
      return calls;
    },
  };
}

test('the code for a platform without /proc records the same process', async () => {
  const one = script('exit 5');
  mkdirSync(one.folder);
  const mark = { key: '123456789', number: 7 };
  const files = { ...makeFiles(one.folder), success: 'h' };
  const note = { token: 't', command: one.command, boot: 'b', launcher: 2, files };
  const step = { mark, environment: { unset: '', set: '' }, ...one };
  const place = { file: one.folder, sealedFor: one.folder };
  writeLaunch(processes().seals, place, note, stepCode('darwin', step));
  const code = launcherCode('darwin', mark, 1);
  const child = spawn('/bin/bash', ['--norc', '-pc', code], {
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  const channel = child.stdio[FIRST_CHANNEL];
  if (!(channel instanceof Duplex)) throw new Error('It has no channel.');
  child.stdin?.end(`${FIRST_CHANNEL}\n`);
  channel.end(`word:\0\0${one.folder}\0`);
  expect(await textOf(channel)).toMatch(/^exited 5 none\n$/);
  expect(readLaunch(one.folder)?.progress).toEqual({
    kind: 'exited',
    code: 5,
    pid: expect.any(Number),
    started: expect.stringMatching(/^\w{3} \w{3} \d+ \d\d:\d\d:\d\d \d{4}$/),
  });
});

test('the launcher ends with the run, and its commands continue', async () => {
  const run = newRun();
  const wanted = waiting(4);
  const step = own(run.submit(wanted));
  const witness = await begun(step);
  await until(() => ran().length === 1);
  await run.close();
  await until(() => system.look([launcherOf(wanted)]).length === 0);
  expect(isAlive(witness)).toBe(true);
  writeFileSync(path('go'), '');
  expect(await adopt(wanted.folder)?.ended).toEqual({ kind: 'exited', code: 4 });
});
