import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  identify,
  isAlive,
  type LaunchedProcess,
  type ProcessIdentity,
  RunProcesses,
} from '../../src/execute/process/index.ts';
import { readRecord, writeRecord } from '../../src/execute/process/record.ts';
import { system } from '../../src/execute/process/system.ts';
import {
  anyAlive,
  begun,
  makeFolder,
  plain,
  stateOf,
  steps,
  text,
  until,
} from './fixtures/steps.ts';

/** For each way to start a process. */
export function stopTests(): void {
  const { path, folder, own, bash, adopt, endLeftovers, processes, identities } = steps();

  const identityOf = ({ identity }: LaunchedProcess): ProcessIdentity => {
    if (identity === undefined) throw new Error('not launched');
    return identity;
  };

  /** A daemon without the environment, descriptors, session and parent of its step. */
  const NAMELESS = 'env -i "$NODE" "$DAEMON" jobs <&- >&- 2>&-';

  /** The hardest daemon to find that this platform can still find. */
  const DAEMON = process.platform === 'linux' ? NAMELESS : '"$NODE" "$DAEMON" jobs';

  /** Only Linux shows the limits of another process. */
  const ON_LINUX: readonly [string, number, string][] = [
    ['daemons without an environment', 1, 'env -i "$NODE" "$DAEMON" jobs loud; exec sleep 300'],
    ['daemons without environment and descriptors', 1, `${NAMELESS}; exec sleep 300`],
  ];

  test('a command that handles SIGINT ends in its own way', async () => {
    const step = bash('trap "echo bye; exit 9" INT; echo ready; while :; do sleep 0.05; done');
    await until(() => text(step.stdout.path) === 'ready\n');
    expect(await step.stop()).toEqual([]);
    expect(await step.ended).toEqual({ kind: 'exited', code: 9 });
    expect(text(step.stdout.path)).toBe('ready\nbye\n');
  });

  test('a stopped command is continued, so that it can end in its own way', async () => {
    const step = bash(
      'trap "exit 9" INT; echo $$ >>jobs; kill -STOP $$; while :; do sleep 0.05; done',
    );
    const [command] = await identities('jobs', 1);
    await until(() => command !== undefined && stateOf(command.pid).startsWith('T'));
    expect(await step.stop()).toEqual([]);
    expect(await step.ended).toEqual({ kind: 'exited', code: 9 });
  });

  test('a command that handles only SIGTERM ends in its own way', async () => {
    const step = bash('trap "" INT; trap "exit 8" TERM; echo ready; while :; do sleep 0.01; done');
    await until(() => text(step.stdout.path) === 'ready\n');
    // A busy machine may need a while to run the trap, and SIGTERM has a fifth of this time.
    expect(await step.stop(5000)).toEqual([]);
    expect(await step.ended).toEqual({ kind: 'exited', code: 8 });
  });

  test('a command that ignores signals is killed, and its exit is still recorded', async () => {
    const step = bash('trap "" INT TERM HUP; echo $$ >>jobs; while :; do sleep 1; done');
    const jobs = await identities('jobs', 1);
    expect(await step.stop(100)).toEqual([]);
    expect(await step.ended).toEqual({ kind: 'exited', code: 137 });
    expect(anyAlive([...jobs, identityOf(step)])).toBe(false);
  });

  test.each([
    ['background jobs', 1, 'sleep 300 & echo $! >>jobs; wait'],
    ['nohup', 1, 'nohup sleep 300 >/dev/null 2>&1 & echo $! >>jobs; wait'],
    [
      'jobs in separate groups',
      2,
      'set -m; sleep 300 & echo $! >>jobs; sleep 300 & echo $! >>jobs; wait',
    ],
    ['orphans', 1, '(sleep 300 & echo $! >>jobs); exec sleep 300'],
    [
      'orphans that closed all descriptors',
      1,
      '(exec <&- >&- 2>&-; sleep 300 & echo $! >>jobs); exec sleep 300',
    ],
    ['daemons', 2, '"$NODE" "$DAEMON" jobs; "$NODE" "$DAEMON" jobs; exec sleep 300'],
    [
      'orphans without an environment',
      1,
      '(set -m; env -i sleep 300 & echo $! >>jobs); exec sleep 300',
    ],
    ...(process.platform === 'linux' ? ON_LINUX : []),
    ['stopped jobs', 1, 'sleep 300 & echo $! >>jobs; kill -STOP $!; wait'],
    ['a stopped command', 1, 'echo $$ >>jobs; kill -STOP $$; sleep 300'],
    ['a stopped group', 1, 'echo $$ >>jobs; kill -STOP 0; sleep 300'],
  ])('a stop also ends %s', async (_, count, script) => {
    const step = bash(script);
    const jobs = await identities('jobs', count);
    expect(await step.stop(500)).toEqual([]);
    expect(anyAlive([...jobs, identityOf(step)])).toBe(false);
    await step.ended;
  });

  test('a stop also ends children that start during the stop', async () => {
    const step = bash(`
    start() {
      for i in 1 2 3; do sleep 300 & echo $! >>jobs; done; "$NODE" "$DAEMON" jobs
      until [ -e go ]; do sleep 0.02; done; exit
    }
    trap start INT
    echo ready; while :; do sleep 0.02; done`);
    await until(() => text(step.stdout.path) === 'ready\n');
    const stopped = step.stop(50_000);
    const jobs = await identities('jobs', 4);
    writeFileSync(path('go'), '');
    expect(await stopped).toEqual([]);
    expect(anyAlive(jobs)).toBe(false);
  });

  test('a stop ends a command that keeps forking', async () => {
    const step = bash(
      'trap "" INT TERM; while :; do sleep 300 & echo $! >>jobs; sleep 0.005; done',
    );
    await identities('jobs', 20);
    expect(await step.stop(100)).toEqual([]);
    const pids = text(path('jobs')).trim().split('\n').map(Number);
    expect(pids.filter((pid) => commandOf(pid).startsWith('sleep 300'))).toEqual([]);
  });

  test('50 processes that are stopped together leave no process', async () => {
    const all = Array.from({ length: 50 }, (_, index) =>
      bash(`sleep 300 & echo $! >>jobs; [ ${index % 5} = 0 ] && trap "" INT; echo $$ >>jobs; wait`),
    );
    const jobs = await identities('jobs', 100);
    const survivors = await Promise.all(all.map((step) => step.stop(500)));
    expect(survivors.flat()).toEqual([]);
    expect(anyAlive([...jobs, ...all.map(identityOf)])).toBe(false);
    await Promise.all(all.map((step) => step.ended));
  });

  test('a stop reads the process table as often for many steps as for one', async () => {
    const surveysFor = async (count: number) => {
      let surveys = 0;
      const survey = (since?: string) => {
        surveys += 1;
        return system.survey(since);
      };
      const run = new RunProcesses(path('.'), { system: { ...system, survey } });
      const all = Array.from({ length: count }, () =>
        own(run.launch({ ...plain, folder: folder(), cwd: path('.'), ...sleeper })),
      );
      await identities('jobs', count);
      writeFileSync(path('jobs'), '');
      const survivors = await Promise.all(
        all.map(async (step) => [await step.stop(20_000), await step.endLeftovers()]),
      );
      expect(survivors.flat(2)).toEqual([]);
      expect(anyAlive(all.map(identityOf))).toBe(false);
      return surveys;
    };
    const one = await surveysFor(1);
    expect(await surveysFor(20)).toBe(one);
  });

  const sleeper = { command: '/bin/bash', args: ['-c', 'echo $$ >>jobs; exec sleep 300'] };

  test('steps that began at different times can be stopped together, with their daemons', async () => {
    const run = processes();
    const startOne = async (count: number) => {
      const wanted = { ...plain, folder: folder(), cwd: path('.') };
      const args = ['-c', `${DAEMON}; exec sleep 300`];
      const step = own(run.launch({ ...wanted, command: '/bin/bash', args }));
      await identities('jobs', count);
      return step;
    };
    const all = [await startOne(1), await startOne(2), await startOne(3)];
    const jobs = await identities('jobs', 3);
    const survivors = await Promise.all(all.map((step) => step.stop(500)));
    expect(survivors.flat()).toEqual([]);
    expect(anyAlive([...jobs, ...all.map(identityOf)])).toBe(false);
  });

  test('the strays of a run are found without the folders of its steps', async () => {
    const step = bash(`${DAEMON}; until [ -s jobs ]; do sleep 0.02; done`);
    await step.ended;
    const jobs = await identities('jobs', 1);
    const other = new RunProcesses(makeFolder(path('another run')));
    await other.endStrays();
    expect(anyAlive(jobs)).toBe(true);
    expect(await processes().endStrays(100)).toEqual([]);
    expect(anyAlive(jobs)).toBe(false);
  });

  test('endStrays spares an adopted process and its jobs', async () => {
    const here = folder();
    const kept = bash('sleep 300 & echo $! >>kept; exec sleep 300', { folder: here });
    const stray = bash('nohup sleep 300 >/dev/null 2>&1 & echo $! >>jobs');
    await stray.ended;
    const [jobs, keptJobs] = [await identities('jobs', 1), await identities('kept', 1)];
    const resumed = processes();
    const adopted = adopt(here, resumed);
    expect(await resumed.endStrays()).toEqual([]);
    expect(anyAlive(jobs)).toBe(false);
    expect([identityOf(kept), ...keptJobs].every(isAlive)).toBe(true);
    expect(await adopted?.stop()).toEqual([]);
    expect(anyAlive(keptJobs)).toBe(false);
  });

  test('stopping one step does not affect another', async () => {
    const [one, other] = [bash('sleep 300'), bash('sleep 300')];
    await Promise.all([one, other].map(begun));
    await one.stop();
    expect(isAlive(identityOf(other))).toBe(true);
  });

  test('a step inside a step ends with the outer step, even as an orphan', async () => {
    const here = folder();
    const outer = bash('echo "$RAYMOND_STEP_TOKEN"', { folder: here });
    await outer.ended;
    const token = text(outer.stdout.path).trim();
    bash('echo $$ >>inner; exec sleep 300', {
      env: { PATH: '/bin:/usr/bin', RAYMOND_STEP_TOKEN: token },
    });
    const inner = await identities('inner', 1);
    await endLeftovers(here);
    expect(anyAlive(inner)).toBe(false);
  });

  test.each([
    ['start time', { started: '1' }],
    ['boot', { boot: 'another' }],
  ])('a process with another %s is never signalled', async (_, forged) => {
    const bystander = bash('echo ready; sleep 300');
    await until(() => text(bystander.stdout.path) === 'ready\n');
    const identity = identityOf(bystander);
    const here = folder();
    const step = bash('true', { folder: here });
    await step.ended;
    forge(here, { ...identity, ...forged });

    const adopted = adopt(here);
    expect(await adopted?.ended).toEqual({ kind: 'unknown' });
    expect(await adopted?.stop(50)).toEqual([]);
    expect(await endLeftovers(here, 50)).toEqual([]);
    expect(isAlive(identity)).toBe(true);
  });

  test('a record that Raymond did not write leads to no other process', async () => {
    const bystander = spawn('sleep', ['300'], { stdio: 'ignore' });
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const identity = identify(bystander.pid ?? 0);
    const here = folder();
    await bash('true', { folder: here }).ended;
    const claimed = { ...readRecord(here), identity };
    writeFileSync(join(here, 'process.json'), JSON.stringify(claimed));
    expect(processes().adopt(here)).toBe('foreign');
    expect(await endLeftovers(here, 50)).toEqual([]);
    expect(identity && isAlive(identity)).toBe(true);
  });

  /** As if the pid had been given to another process meanwhile. */
  function forge(stepFolder: string, { pid, started, boot }: ProcessIdentity): void {
    const { token = '', command = '', files } = readRecord(stepFolder) ?? {};
    if (!files) throw new Error(`${stepFolder} has no record.`);
    const identity = { pid, started, boot };
    writeRecord(processes().seals, stepFolder, { identity, token, command, files });
  }

  function commandOf(pid: number): string {
    return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  }
}
