import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { PASSWORD } from '../postgres/server.ts';
import { effectsOf, overlaps, RECORDING } from './effects.ts';
import { Fleet } from './fleet.ts';

async function newFleet(files: Readonly<Record<string, string>>): Promise<Fleet> {
  const fleet = await Fleet.open(await newDatabase(), files);
  onTestFinished(() => fleet.dispose());
  return fleet;
}

/** Loops, calls a workflow, forks workers and joins them, and asks a person. */
const FLOW = {
  'flow/START.sh': `env > environment; n=$(( \${RAYMOND_RESULT:-0} + 1 ))
if [ $n -lt 20 ]; then echo "<goto input=\\"$n\\">START.sh</goto>"
else echo '<call return="BACK.sh">CALLED.sh</call>'; fi
`,
  'flow/CALLED.sh': 'echo "<result>called</result>"\n',
  'flow/BACK.sh': `echo '<fork n="1">W.sh</fork><fork n="2">W.sh</fork><join>ASK.sh</join>'\n`,
  'flow/W.sh': 'echo "<result>worked</result>"\n',
  'flow/ASK.sh': `echo '<ask next="END.sh">Go on?</ask>'\n`,
  'flow/END.sh': `[ "$RAYMOND_RESULT" != no ] || exit 1
echo "<result>$RAYMOND_RESULT</result>"\n`,
};

test('workers carry a run with loops, calls, forks, joins and a question', async () => {
  const fleet = await newFleet(FLOW);
  const env = { RAYMOND_DATABASE: fleet.url };
  const started = fleet.project.start(['flow', '--workflow-id', 'one'], { env });
  const workers = [fleet.worker('a'), fleet.worker('b')];
  await fleet.asks('one');
  await fleet.project.run(['answer', 'one', 'no'], { env });
  expect(await started.ended).toMatchObject({ code: 1 });
  const resumed = await fleet.project.run(['resume', 'one', '--input', 'yes, <b>go</b>'], { env });
  expect(resumed).toMatchObject({ code: 0, stdout: 'yes, <b>go</b>\n' });

  expect(fleet.project.read('environment')).not.toMatch(/RAYMOND_DATABASE|postgres:/);
  expect(connectionsOf(workers[0]?.pid ?? 0)).toEqual(new Set([new URL(fleet.url).port]));
  for (const worker of workers) worker.child.kill('SIGTERM');
  for (const worker of workers) {
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(
      /^The worker [ab] takes steps from the database \S+ at \S+\.\nA round trip to the database takes [\d.]+ m?s\.\n/,
    );
    expect(stderr).not.toContain(PASSWORD);
  }
});

/** The ports of other machines to which a process has connections. */
function connectionsOf(pid: number): ReadonlySet<string> {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const lines = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8').trim().split('\n').slice(1),
  );
  return new Set(
    lines.flatMap((line) => {
      const [, , remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/);
      return own.has(inode) ? [String(Number.parseInt(remote.split(':')[1] ?? '', 16))] : [];
    }),
  );
}

test('a worker drains: its steps finish, and another worker continues', async () => {
  const fleet = await newFleet({
    'flow/START.sh':
      'echo $$ > began; while [ ! -e go ]; do sleep 0.05; done\necho "<goto>NEXT.sh</goto>"\n',
    'flow/NEXT.sh': 'echo "<result>$RAYMOND_ATTEMPT</result>"\n',
  });
  const run = await fleet.begin('flow');
  const first = fleet.worker('a');
  await fleet.file('began');
  first.child.kill('SIGINT');
  await eventually('the worker says it', () => first.stderr().includes('Ctrl-C again stops them.'));
  fleet.project.write('go', '');
  expect(await first.ended).toMatchObject({ code: 0 });
  const { agents } = await fleet.look(run);
  expect([...agents].map(([, { state, status }]) => [state, status.kind])).toEqual([
    ['NEXT.sh', 'running'],
  ]);
  fleet.worker('b');
  expect(await fleet.ended(run)).toMatchObject({ result: '1' });
});

test('a worker that must stop now interrupts its steps, and another worker repeats them', async () => {
  const fleet = await newFleet({
    'flow/START.sh': `${RECORDING}[ $RAYMOND_ATTEMPT = 2 ] || while :; do pass 0.05; done
echo "<result>$RAYMOND_ATTEMPT</result>"\n`,
  });
  const run = await fleet.begin('flow');
  const first = fleet.worker('a');
  await fleet.file('effects');
  first.child.kill('SIGTERM');
  expect(await first.ended).toMatchObject({ code: 0 });
  fleet.worker('b');
  expect(await fleet.ended(run)).toMatchObject({ result: '2' });
  expect(overlaps(effectsOf(fleet.project))).toEqual([]);
});

test('limits hold for one worker and for all', async () => {
  const fleet = await newFleet({
    'flow/START.sh': `${RECORDING}for i in 1 2 3; do pass 0.05; done\necho "<result>done</result>"\n`,
  });
  const runs = await Promise.all(['1', '2', '3', '4', '5'].map(() => fleet.begin('flow')));
  for (const name of ['a', 'b']) fleet.worker(name, ['--scripts', '2', '--scripts-for-all', '2']);
  for (const run of runs) await fleet.ended(run);
  // As if all scripts belonged to two agents at most.
  let most = 0;
  const alive = new Set<number>();
  for (const { what, pid } of [...effectsOf(fleet.project)].sort((x, y) => x.at - y.at)) {
    if (what === 'begin') alive.add(pid);
    if (what === 'end') alive.delete(pid);
    most = Math.max(most, alive.size);
  }
  expect(most).toBeLessThanOrEqual(2);
});

test('a run that cannot be decided does not hold up the others', async () => {
  const fleet = await newFleet({ 'flow/START.sh': 'echo "<result>done</result>"\n' });
  const held = await fleet.begin('flow');
  // As a command does that changes the run.
  const lease = await fleet.store.lease(held);
  fleet.worker('a');
  const isTaken = async () => {
    const due = await fleet.database.query(
      'select from raymond.wakeups where run = $1 and at > now()',
      [held],
    );
    return due.length > 0;
  };
  await eventually('the worker looks at the run', isTaken);
  expect(await fleet.ended(await fleet.begin('flow'))).toMatchObject({ result: 'done' });
  expect((await fleet.look(held)).iterations).toBe(0);
  await lease.release();
  expect(await fleet.ended(held)).toMatchObject({ result: 'done' });
});

test('a run that one worker refuses is carried by another one', async () => {
  const forks = '<fork>W.sh</fork>'.repeat(4);
  const fleet = await newFleet({
    'flow/START.sh': `echo '${forks}<join>END.sh</join>'\n`,
    'flow/W.sh': 'echo "<result>worked</result>"\n',
    'flow/END.sh': 'echo "<result>done</result>"\n',
  });
  const run = await fleet.begin('flow');
  const stranger = fleet.worker('stranger', [], {
    XDG_STATE_HOME: fleet.project.path('state of another user'),
  });
  const says = () => stranger.stderr().split('is left to other workers').length - 1;
  await eventually('the worker refuses the run', () => says() > 0);
  fleet.worker('a');
  expect(await fleet.ended(run)).toMatchObject({ result: 'done' });
  const workers = (await fleet.events(run)).flatMap((one) =>
    one.type === 'step-started' && one.worker !== undefined ? one.worker : [],
  );
  expect(workers).not.toContain('stranger');
  expect(says()).toBe(1);
});

test('a worker of a new database says which open transaction it waits for', async () => {
  const fleet = await newFleet({ 'flow/START.sh': 'echo "<result>x</result>"' });
  const client = await fleet.database.connect();
  await client.query("set application_name = 'my report'");
  await client.query('begin isolation level repeatable read; select count(*) from raymond.runs');
  const worker = fleet.worker('first');
  await eventually('it says so', () =>
    /waits for an open transaction of my report .*process \d+/.test(worker.stderr()),
  );
  await client.query('commit');
  await client.end();
  expect((await fleet.ended(await fleet.begin('flow'))).result).toBe('x');
});

test('a second worker in the same folder is refused', async () => {
  const fleet = await newFleet(FLOW);
  const first = fleet.worker('a');
  await eventually('the first worker works', () => first.stderr().includes('takes steps'));
  const second = await fleet.worker('a').ended;
  expect(second).toMatchObject({ code: 64 });
  expect(second.stderr).toContain('Another worker uses the folder');
});
