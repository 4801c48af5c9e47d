import { expect, test } from 'vitest';
import { identify, isAlive } from '../../src/execute/process/index.ts';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { startServer } from '../postgres/server.ts';
import { survivors } from '../survivors.ts';
import { effectsOf, overlaps, RECORDING, WAITING } from './effects.ts';
import { Fleet } from './fleet.ts';

const FLOW = {
  'flow/START.sh': `${RECORDING}echo "<goto>WAIT.sh</goto>"\n`,
  'flow/WAIT.sh': `${WAITING}echo "<goto>END.sh</goto>"\n`,
  'flow/END.sh': `${RECORDING}echo "<result>$RAYMOND_ATTEMPT</result>"\n`,
};

type AtEnd = (act: () => Promise<void>) => void;

async function newFleet(atEnd: AtEnd): Promise<Fleet> {
  const fleet = await Fleet.open(await newDatabase(atEnd), FLOW);
  atEnd(() => fleet.dispose());
  return fleet;
}

// The tests mostly wait for leases, so they do it together.

/** A lease that ends in the test, and one that does not. */
const SHORT = ['--lease', '4'];
const LONG = ['--lease', '60'];

const alive = (fleet: Fleet) => effectsOf(fleet.project).filter(({ what }) => what === 'alive');
const begins = (fleet: Fleet) =>
  effectsOf(fleet.project).flatMap(({ what, state, attempt }) =>
    what === 'begin' ? [`${state} ${attempt}`] : [],
  );

/** The processes of the step that runs, but not the launcher, which a worker keeps. */
function processesOf(fleet: Fleet, worker: string) {
  const lines = survivors(fleet.project.folder, fleet.stateOf(worker));
  const steps = lines.filter((line) => !line.includes('raymond-launcher'));
  expect(steps.length).toBeGreaterThan(0);
  return steps.flatMap((line) => identify(Number.parseInt(line, 10)) ?? []);
}

test.concurrent('a worker that is killed and starts again adopts its steps', async ({
  onTestFinished,
}) => {
  const fleet = await newFleet(onTestFinished);
  const run = await fleet.begin('flow');
  const first = fleet.worker('a', LONG);
  await eventually('the step runs', () => alive(fleet).length > 0);
  first.child.kill('SIGKILL');
  await first.ended;
  fleet.worker('a', LONG);
  await fleet.owned(run, 'a', 2);
  fleet.project.write('go', '');
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' }, result: '1' });
  expect(begins(fleet)).toEqual(['START.sh 1', 'WAIT.sh 1', 'END.sh 1']);
});

test.concurrent('the guard of a killed worker still ends its steps while the next worker waits for the database', async ({
  onTestFinished,
}) => {
  const fleet = await newFleet(onTestFinished);
  const run = await fleet.begin('flow');
  const first = fleet.worker('a', SHORT);
  await eventually('the step runs', () => alive(fleet).length > 0);
  const steps = processesOf(fleet, 'a');
  await fleet.database.repeatable(async ({ query }) => {
    await query('lock table raymond.workers in share mode');
    first.child.kill('SIGKILL');
    await first.ended;
    fleet.worker('a', SHORT);
    await eventually('the step has ended', () => !steps.some(isAlive));
  });
  fleet.project.write('go', '');
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' } });
});

test.concurrent('another worker takes the steps of one that was killed, after its guard has ended them', async ({
  onTestFinished,
}) => {
  const fleet = await newFleet(onTestFinished);
  const run = await fleet.begin('flow');
  const first = fleet.worker('a', SHORT);
  await eventually('the step runs', () => alive(fleet).length > 0);
  first.child.kill('SIGKILL');
  fleet.worker('b', SHORT);
  await eventually('the step runs again', () => begins(fleet).includes('WAIT.sh 2'));
  fleet.project.write('go', '');
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' }, result: '1' });
  expect(begins(fleet)).toEqual(['START.sh 1', 'WAIT.sh 1', 'WAIT.sh 2', 'END.sh 1']);
  expect(overlaps(effectsOf(fleet.project))).toEqual([]);
});

test.concurrent('a worker that is stopped past its lease does not act any more', async ({
  onTestFinished,
}) => {
  const fleet = await newFleet(onTestFinished);
  const run = await fleet.begin('flow');
  const first = fleet.worker('a', SHORT);
  await eventually('the step runs', () => alive(fleet).length > 0);
  first.child.kill('SIGSTOP');
  fleet.worker('b', SHORT);
  await eventually('the step runs again', () => begins(fleet).includes('WAIT.sh 2'));
  first.child.kill('SIGCONT');
  fleet.project.write('go', '');
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' }, result: '1' });
  expect(begins(fleet)).toEqual(['START.sh 1', 'WAIT.sh 1', 'WAIT.sh 2', 'END.sh 1']);
  expect(overlaps(effectsOf(fleet.project))).toEqual([]);
  expect(await first.ended).toMatchObject({ signal: 'SIGKILL' });
});

test.concurrent('without its database a worker ends its steps in time, and begins again later', async ({
  onTestFinished,
}) => {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const fleet = await Fleet.open(server.url(), FLOW);
  onTestFinished(() => fleet.dispose());
  const run = await fleet.begin('flow');
  const worker = fleet.worker('a', SHORT);
  await eventually('the step runs', () => alive(fleet).length > 0);
  const steps = processesOf(fleet, 'a');
  await server.stop('immediate');
  await eventually('the worker ends its steps', () => worker.stderr().includes('ends its steps'));
  await eventually('the step has ended', () => !steps.some(isAlive));
  await server.start();
  fleet.project.write('go', '');
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' }, result: '1' });
  expect(begins(fleet)).toEqual(['START.sh 1', 'WAIT.sh 1', 'WAIT.sh 2', 'END.sh 1']);
  expect(overlaps(effectsOf(fleet.project))).toEqual([]);
});
