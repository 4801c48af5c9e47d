import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  adopt,
  endLeftovers,
  isAlive,
  type LaunchedProcess,
  type ProcessIdentity,
} from '../../src/execute/process.ts';
import { anyAlive, stateOf, steps, text, until } from './fixtures/steps.ts';

const { path, folder, bash, identities } = steps();

const identityOf = ({ identity }: LaunchedProcess): ProcessIdentity => {
  if (identity === undefined) throw new Error('not launched');
  return identity;
};

/** Only Linux tells which files another process has open. */
const WITHOUT_ENVIRONMENT: [string, number, string] = [
  'daemons without an environment',
  1,
  'env -i "$NODE" "$DAEMON" jobs loud; exec sleep 300',
];

test('a command that hears SIGINT ends in its own way', async () => {
  const step = bash('trap "echo bye; exit 9" INT; echo ready; while :; do sleep 0.05; done');
  await until(() => text(step.stdoutFile) === 'ready\n');
  expect(await step.stop()).toEqual([]);
  expect(await step.ended).toEqual({ kind: 'exited', code: 9 });
  expect(text(step.stdoutFile)).toBe('ready\nbye\n');
});

test('a command that was stopped is woken to end in its own way', async () => {
  const step = bash(
    'trap "exit 9" INT; echo $$ >>jobs; kill -STOP $$; while :; do sleep 0.05; done',
  );
  const [command] = await identities('jobs', 1);
  await until(() => command !== undefined && stateOf(command.pid).startsWith('T'));
  expect(await step.stop()).toEqual([]);
  expect(await step.ended).toEqual({ kind: 'exited', code: 9 });
});

test('one that hears only SIGTERM may end by that', async () => {
  const step = bash('trap "" INT; trap "exit 8" TERM; echo ready; while :; do sleep 0.01; done');
  await until(() => text(step.stdoutFile) === 'ready\n');
  expect(await step.stop(1000)).toEqual([]);
  expect(await step.ended).toEqual({ kind: 'exited', code: 8 });
});

test('one that is deaf is killed, and its end is still recorded', async () => {
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
    'jobs in groups of their own',
    2,
    'set -m; sleep 300 & echo $! >>jobs; sleep 300 & echo $! >>jobs; wait',
  ],
  ['orphans', 1, '(sleep 300 & echo $! >>jobs); exec sleep 300'],
  [
    'orphans that closed everything',
    1,
    '(exec <&- >&- 2>&-; sleep 300 & echo $! >>jobs); exec sleep 300',
  ],
  ['daemons', 2, '"$NODE" "$DAEMON" jobs; "$NODE" "$DAEMON" jobs; exec sleep 300'],
  [
    'orphans without an environment',
    1,
    '(set -m; env -i sleep 300 & echo $! >>jobs); exec sleep 300',
  ],
  ...(process.platform === 'linux' ? [WITHOUT_ENVIRONMENT] : []),
  ['stopped ones', 1, 'sleep 300 & echo $! >>jobs; kill -STOP $!; wait'],
  ['a stopped command', 1, 'echo $$ >>jobs; kill -STOP $$; sleep 300'],
  ['a wholly stopped group', 1, 'echo $$ >>jobs; kill -STOP 0; sleep 300'],
])('a stop also ends %s', async (_, count, script) => {
  const step = bash(script);
  const jobs = await identities('jobs', count);
  expect(await step.stop(500)).toEqual([]);
  expect(anyAlive([...jobs, identityOf(step)])).toBe(false);
  await step.ended;
});

test('children that are born during the stop end too', async () => {
  const step = bash(`
    trap 'for i in 1 2 3; do sleep 300 & echo $! >>jobs; done; "$NODE" "$DAEMON" jobs' INT
    echo ready; while :; do sleep 0.02; done`);
  await until(() => text(step.stdoutFile) === 'ready\n');
  const stopped = step.stop(3000);
  const jobs = await identities('jobs', 4);
  expect(await stopped).toEqual([]);
  expect(anyAlive(jobs)).toBe(false);
});

test('a command that forks without end comes to one', async () => {
  const step = bash('trap "" INT TERM; while :; do sleep 300 & echo $! >>jobs; sleep 0.005; done');
  await identities('jobs', 20);
  expect(await step.stop(100)).toEqual([]);
  const pids = text(path('jobs')).trim().split('\n').map(Number);
  expect(pids.filter((pid) => commandOf(pid).startsWith('sleep 300'))).toEqual([]);
});

test('50 processes that are stopped together leave nothing', async () => {
  const all = Array.from({ length: 50 }, (_, index) =>
    bash(`sleep 300 & echo $! >>jobs; [ ${index % 5} = 0 ] && trap "" INT; echo $$ >>jobs; wait`),
  );
  const jobs = await identities('jobs', 100);
  const survivors = await Promise.all(all.map((step) => step.stop(500)));
  expect(survivors.flat()).toEqual([]);
  expect(anyAlive([...jobs, ...all.map(identityOf)])).toBe(false);
  await Promise.all(all.map((step) => step.ended));
});

test('stopping one step leaves another alone', async () => {
  const [one, other] = [bash('sleep 300'), bash('sleep 300')];
  await one.stop();
  expect(isAlive(identityOf(other))).toBe(true);
});

test('a step inside a step ends with the outer one, also as an orphan', async () => {
  const here = folder();
  const outer = bash('echo "$RAYMOND_STEP_TOKEN"', { folder: here });
  await outer.ended;
  const token = text(outer.stdoutFile).trim();
  const inner = bash('sleep 300', { env: { PATH: '/bin:/usr/bin', RAYMOND_STEP_TOKEN: token } });
  await endLeftovers(here);
  expect(isAlive(identityOf(inner))).toBe(false);
});

test.each([
  ['start time', { started: '1' }],
  ['boot', { boot: 'another' }],
])('a process with another %s is never signalled', async (_, forged) => {
  const bystander = bash('echo ready; sleep 300');
  await until(() => text(bystander.stdoutFile) === 'ready\n');
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

function forge(stepFolder: string, identity: ProcessIdentity): void {
  const file = join(stepFolder, 'process.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(text(file)), identity }));
}

function commandOf(pid: number): string {
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}
