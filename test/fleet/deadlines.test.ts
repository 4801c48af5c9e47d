// Deadlines of runs in a database: they come although nothing runs, and although a worker is dead.
import { expect, onTestFinished, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import type { JournaledEvent } from '../../src/model/event.ts';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Fleet } from './fleet.ts';

const JOIN = '<fork>W</fork><join timeout="3s" timeout_next="LATE">GO</join>';
const FLOW = {
  'flow/ASK.sh': `echo '<ask next="GO" timeout="3s" timeout_next="LATE">Go on?</ask>'\n`,
  'flow/JOIN.sh': `echo '${JOIN}'\n`,
  'flow/GO.sh': 'echo "<result>went on</result>"\n',
  'flow/LATE.sh': 'echo "<result>late</result>"\n',
};
const FILES = {
  ...FLOW,
  'flow/START.sh': 'echo "<goto>$RAYMOND_RESULT</goto>"\n',
  'flow/W.sh': `echo '<ask next="GO">Go on?</ask>'\n`,
  ...Object.fromEntries(Object.entries(FLOW).map(([path, text]) => [`busy-${path}`, text])),
  'busy-flow/START.sh': 'echo "<goto>JOIN</goto>"\n',
  'busy-flow/W.sh': 'touch began; while :; do sleep 0.1; done\n',
  'silent/START.sh': 'sleep 600 & echo $$ $! >pids; wait\n',
};

async function newFleet(): Promise<Fleet> {
  const fleet = await Fleet.open(await newDatabase(), FILES);
  onTestFinished(() => fleet.dispose());
  return fleet;
}

const DEAD_FOR_LONG = ['--lease', '600'];

test('questions and joins end at their time, although the worker that decided last is dead', async () => {
  const fleet = await newFleet();
  const asking = await fleet.begin('flow', 'ASK');
  const joining = await fleet.begin('flow', 'JOIN');
  const busy = await fleet.begin('busy-flow');
  const first = fleet.worker('a', DEAD_FOR_LONG);
  await happens(fleet, asking, 'agent-asked');
  await happens(fleet, joining, 'agent-asked');
  await happens(fleet, busy, 'join-started');
  await fleet.file('began');
  first.child.kill('SIGKILL');
  await first.ended;
  fleet.worker('b');

  expect((await fleet.ended(asking)).result).toBe('late');
  const timedOut = await happens(fleet, asking, 'question-timed-out');
  expect(timedOut.at).toBeGreaterThanOrEqual(
    (await happens(fleet, asking, 'agent-asked')).deadline ?? Number.POSITIVE_INFINITY,
  );
  // In one run the worker waits for a person, in the other its step still runs, without its worker.
  for (const run of [joining, busy]) {
    const reported = await happens(fleet, run, 'join-reported');
    expect(reported).toMatchObject({ why: 'timeout', workers: [{ status: 'running' }] });
    expect(reported.at).toBeGreaterThanOrEqual(
      (await happens(fleet, run, 'join-started')).deadline ?? Number.POSITIVE_INFINITY,
    );
    expect(await happens(fleet, run, 'agent-ended')).toMatchObject({
      agent: 'main',
      result: 'late',
    });
  }
});

test('a silent script is stopped on its worker, and the run says so', async () => {
  const fleet = await newFleet();
  fleet.worker('a');
  const env = { RAYMOND_DATABASE: fleet.url };
  const ended = await fleet.project.run(['silent', '--timeout', '1'], { env });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('was silent for 1 s') });
  const pids = fleet.project.read('pids').trim().split(' ').map(Number);
  expect(pids).toHaveLength(2);
  await eventually('its processes are gone', () => !pids.some((pid) => identify(pid)));
});

async function happens<T extends JournaledEvent['type']>(fleet: Fleet, run: string, type: T) {
  const find = async () =>
    (await fleet.events(run)).find(
      (event): event is Extract<JournaledEvent, { type: T }> => event.type === type,
    );
  await eventually(`${type} in ${run}`, async () => (await find()) !== undefined, 50);
  const found = await find();
  if (!found) throw new Error(`There is no ${type}.`);
  return found;
}
