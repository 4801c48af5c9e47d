// A witness runs one command after another. Whatever happens to one command, or to the witness, the
// others are not touched, and each begins once at most.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive, type Launch, RunProcesses } from '../../src/execute/process/index.ts';
import { STEP_KEY } from '../step-key.ts';
import { anyAlive, begun, plain, steps, text, until } from './fixtures/steps.ts';

const { path, folder, own, identities, processes } = steps();

function newRun(): RunProcesses {
  const run = new RunProcesses(path('.'), { key: STEP_KEY });
  onTestFinished(() => run.close());
  return run;
}

const script = (code: string): Launch => ({
  ...plain,
  folder: folder(),
  cwd: path('.'),
  command: '/bin/bash',
  args: ['-c', code],
});

/** Runs a command to its end; gives its witness. */
async function done(run: RunProcesses, wanted = script('exit 3')) {
  const step = own(run.submit(wanted));
  expect(await step.ended).toEqual({ kind: 'exited', code: 3 });
  const { identity } = step;
  expect(await step.endLeftovers()).toEqual([]);
  if (!identity) throw new Error('It has no identity.');
  return identity;
}

/** The pids of a process's children. A free witness has one, which waits for the next command. */
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);

/** Gives a witness with a child that waits for the next command. */
async function prepared(run: RunProcesses) {
  const witness = await done(run);
  await until(() => childrenOf(witness.pid).length > 0);
  return witness;
}

const waiting = (name: string) =>
  script(`echo $$ >>${name}; until [ -e go ]; do sleep 0.05; done; exit 3`);

test('commands that run in turn share two witnesses, commands at the same time do not', async () => {
  const run = newRun();
  const inTurn = new Set<number>();
  for (let n = 0; n < 8; n++) inTurn.add((await done(run)).pid);
  expect(inTurn.size).toBe(2);
  const all = [1, 2, 3].map((n) => own(run.submit(waiting(String(n)))));
  const witnesses = new Set((await Promise.all(all.map(begun))).map(({ pid }) => pid));
  expect(witnesses.size).toBe(3);
  expect([...inTurn].every((pid) => witnesses.has(pid))).toBe(true);
});

test('a late stop of a command does not touch the next command of its witness', async () => {
  const run = newRun();
  const before = own(run.submit(script('exit 3')));
  await before.ended;
  await before.endLeftovers();
  const step = own(run.submit(waiting('pid')));
  expect(await begun(step)).toEqual(before.identity);
  const commands = await identities('pid', 1);
  expect(await before.stop(0)).toEqual([]);
  expect(await before.endLeftovers(0)).toEqual([]);
  expect(anyAlive(commands)).toBe(true);
  writeFileSync(path('go'), '');
  expect(await step.ended).toEqual({ kind: 'exited', code: 3 });
});

test('to end the remaining processes of an old step does not touch the next command of its witness', async () => {
  const run = newRun();
  const old = script('exit 3');
  const witness = await done(run, old);
  const step = own(run.submit(waiting('pid')));
  expect(await begun(step)).toEqual(witness);
  const commands = await identities('pid', 1);
  expect(await processes().endSteps([old.folder], 0)).toEqual([]);
  expect(anyAlive(commands)).toBe(true);
});

test('the witness of a command that was stopped ends, and so does one whose command has leftovers', async () => {
  const run = newRun();
  const step = own(run.submit(waiting('pid')));
  const witness = await begun(step);
  await identities('pid', 1);
  expect(await step.stop(500)).toEqual([]);
  await step.ended;
  expect(isAlive(witness)).toBe(false);

  const untidy = own(run.submit(script('sleep 300 & echo $! >>job; exit 3')));
  await untidy.ended;
  const jobs = await identities('job', 1);
  expect(await untidy.endLeftovers()).toEqual([]);
  expect(anyAlive(jobs)).toBe(false);
  expect(await done(run)).not.toEqual(untidy.identity);
});

test('a witness that is killed while it waits is replaced, and the next command begins once at most', async () => {
  const run = newRun();
  const witness = await done(run);
  process.kill(witness.pid, 'SIGKILL');
  const { kind } = await own(run.submit(script('echo 1 >>ran; exit 3'))).ended;
  // The command may begin before the system carries out the kill. Then its end is unknown.
  if (kind === 'unknown') await until(() => existsSync(path('ran')));
  else expect(kind).toBe('exited');
  await until(() => !isAlive(witness));
  expect(await done(run)).not.toEqual(witness);
  expect(text(path('ran'))).toBe('1\n');
});

test.runIf(process.platform === 'linux')(
  'a child that waits for a command does not begin it when its witness has been killed',
  async () => {
    const run = newRun();
    const witness = await prepared(run);
    process.kill(witness.pid, 'SIGKILL');
    await until(() => !isAlive(witness));
    expect(await own(run.submit(script('echo 1 >>ran; exit 3'))).ended).toMatchObject({ code: 3 });
    expect(text(path('ran'))).toBe('1\n');
  },
);

test.runIf(process.platform === 'linux')(
  'a child that is killed before its command begins is replaced, and the command begins once',
  async () => {
    const run = newRun();
    const witness = await prepared(run);
    process.kill(witness.pid, 'SIGSTOP');
    for (const child of childrenOf(witness.pid)) process.kill(child, 'SIGKILL');
    const step = own(run.submit(script('echo 1 >>ran; exit 3')));
    process.kill(witness.pid, 'SIGCONT');
    expect(await step.ended).toMatchObject({ code: 3 });
    expect(text(path('ran'))).toBe('1\n');
    expect(await step.endLeftovers()).toEqual([]);
    await until(() => !isAlive(witness));
  },
);

/** A command whose child has read its code, and only waits to begin. */
async function ready(run: RunProcesses) {
  const witness = await prepared(run);
  const wanted = { ...script('echo 1 >>ran; exit 3'), cwd: path('elsewhere') };
  mkdirSync(wanted.cwd);
  const launch = run.prepare(wanted);
  const isWaiting = () =>
    childrenOf(witness.pid).some((pid) => readlinkSync(`/proc/${pid}/cwd`) === wanted.cwd);
  await until(isWaiting);
  const runs = () => (existsSync(join(wanted.cwd, 'ran')) ? text(join(wanted.cwd, 'ran')) : '');
  expect([existsSync(wanted.folder), runs()]).toEqual([false, '']);
  return { witness, wanted, launch, runs };
}

test.runIf(process.platform === 'linux')(
  'a command that was prepared begins when it is submitted',
  async () => {
    const run = newRun();
    const { witness, launch, runs } = await ready(run);
    const step = own(launch.submit());
    expect(await step.ended).toMatchObject({ code: 3 });
    expect([step.identity, runs()]).toEqual([witness, '1\n']);
    expect(await step.endLeftovers()).toEqual([]);
    await done(run);
  },
);

test.runIf(process.platform === 'linux')(
  'a command that was prepared never begins if it is cancelled, or if Raymond has ended',
  async () => {
    const first = await ready(newRun());
    first.launch.cancel();
    await until(() => !isAlive(first.witness));
    expect([existsSync(first.wanted.folder), first.runs()]).toEqual([false, '']);

    renameSync(first.wanted.cwd, path('before'));
    const run = newRun();
    const second = await ready(run);
    await run.close();
    await until(() => !isAlive(second.witness));
    expect([existsSync(second.wanted.folder), second.runs()]).toEqual([false, '']);
  },
);

test.runIf(process.platform === 'linux').each(['witness', 'child'])(
  'a command that was prepared begins once, even if its %s is killed before',
  async (victim) => {
    const run = newRun();
    const { witness, launch, runs } = await ready(run);
    const victims = victim === 'witness' ? [witness.pid] : childrenOf(witness.pid);
    for (const pid of victims) process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(witness));
    expect(await own(launch.submit()).ended).toMatchObject({ code: 3 });
    expect(runs()).toBe('1\n');
  },
);

test.runIf(process.platform === 'linux')(
  'a command that was prepared begins once, even if its folder exists by then',
  async () => {
    const { wanted, launch, runs } = await ready(newRun());
    mkdirSync(wanted.folder);
    writeFileSync(join(wanted.folder, 'kept'), 'kept');
    expect(await own(launch.submit()).ended).toMatchObject({ code: 3 });
    expect(runs()).toBe('1\n');
    expect(readdirSync(wanted.folder)).toContain('kept');
  },
);

test('a command in a folder that exists does not use a prepared one', async () => {
  const run = newRun();
  await done(run);
  const wanted = script('exit 3');
  mkdirSync(wanted.folder);
  writeFileSync(join(wanted.folder, 'kept'), 'kept');
  await done(run, wanted);
  expect(readdirSync(wanted.folder)).toContain('kept');
});

test('when a witness is killed, the end of its command is unknown, and the command can be ended', async () => {
  const run = newRun();
  const step = own(run.submit(waiting('pid')));
  const commands = await identities('pid', 1);
  process.kill((await begun(step)).pid, 'SIGKILL');
  expect(await step.ended).toEqual({ kind: 'unknown' });
  expect(await step.endLeftovers(100)).toEqual([]);
  expect(anyAlive(commands)).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'a command that is stopped before its witness begins it never begins',
  async () => {
    const run = newRun();
    const witness = await prepared(run);
    const all = [witness.pid, ...childrenOf(witness.pid)];
    for (const pid of all) process.kill(pid, 'SIGSTOP');
    const step = own(run.submit(script('echo 1 >>ran')));
    expect(await step.stop()).toEqual([]);
    expect(await step.ended).toMatchObject({ kind: 'unstarted' });
    for (const pid of all) process.kill(pid, 'SIGCONT');
    await until(() => !isAlive(witness));
    expect(existsSync(path('ran'))).toBe(false);
  },
);

test('witnesses that are not needed any longer end', async () => {
  const run = newRun();
  const all = Array.from({ length: 12 }, (_, n) => own(run.submit(waiting(`pid-${n}`))));
  const witnesses = await Promise.all(all.map(begun));
  writeFileSync(path('go'), '');
  for (const step of all) {
    await step.ended;
    await step.endLeftovers();
  }
  const living = () => witnesses.filter(isAlive).length;
  await until(() => living() <= 4);
  await run.close();
  await until(() => living() === 0);
});

/** So many that the run looks whether their folders can be used again. */
const MANY = 80;

/** Nothing is taken over before the first folder was made ahead. */
const takenOver = (run: RunProcesses, step: string) => until(() => run.takeOver(step));

const inodeOf = (file: string) => lstatSync(file).ino;

test('the folders of old steps are used again, without a trace of the old step', async () => {
  const run = newRun();
  const inodes = new Set<number>();
  let reused = 0;
  for (let n = 0; n < MANY; n++) {
    const one = { ...script(`echo out ${n}; echo err ${n} >&2; exit 3`), input: `in ${n}` };
    const step = own(run.submit(one));
    await step.ended;
    await step.endLeftovers();
    expect(text(step.stdout.path)).toBe(`out ${n}\n`);
    expect(text(step.stderr.path)).toBe(`err ${n}\n`);
    expect(text(join(one.folder, 'input'))).toBe(`in ${n}`);
    expect(readdirSync(one.folder).sort()).toEqual(['input', 'launch', 'stderr', 'stdout']);
    const inode = inodeOf(step.stdout.path);
    if (inodes.has(inode)) reused += 1;
    inodes.add(inode);
    await takenOver(run, one.folder);
    expect(existsSync(one.folder)).toBe(false);
  }
  expect(reused).toBeGreaterThan(0);
});

test('a process that outlives its step cannot write to the output of a later one', async () => {
  const run = newRun();
  const daemon = script(
    '"$NODE" "$DAEMON" daemons loud; until [ -s daemons ]; do sleep 0.02; done; exit 3',
  );
  const step = own(run.submit(daemon));
  await step.ended;
  await step.endLeftovers();
  const inode = inodeOf(step.stdout.path);
  const [survivor] = await identities('daemons', 1);
  expect(survivor && isAlive(survivor)).toBe(true);
  await takenOver(run, daemon.folder);
  for (let n = 0; n < MANY; n++) {
    const one = script('exit 3');
    await done(run, one);
    // The daemon still has the old file open, so its number cannot be given to another file.
    expect(inodeOf(join(one.folder, 'stdout'))).not.toBe(inode);
    run.takeOver(one.folder);
  }
  await run.endStrays(100);
});

test('a file that a script has replaced by a link is not emptied', async () => {
  const run = newRun();
  writeFileSync(path('precious'), 'kept');
  for (let n = 0; n < MANY; n++) {
    const one = script('exit 3');
    await done(run, one);
    renameSync(join(one.folder, 'stdout'), join(one.folder, 'stdout.old'));
    symlinkSync(path('precious'), join(one.folder, 'stdout'));
    run.takeOver(one.folder);
  }
  expect(text(path('precious'))).toBe('kept');
});
