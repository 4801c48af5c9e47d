import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { effectsOf, overlaps, RECORDING, WAITING } from './effects.ts';
import { Fleet } from './fleet.ts';

const FLOW = {
  'flow/START.sh': `${RECORDING}echo "<goto>WAIT.sh</goto>"\n`,
  'flow/WAIT.sh': `${WAITING}echo "<goto>END.sh</goto>"\n`,
  'flow/END.sh': `${RECORDING}echo "<result>$RAYMOND_ATTEMPT</result>"\n`,
};

async function newFleet(): Promise<Fleet> {
  const fleet = await Fleet.open(await newDatabase(), FLOW);
  onTestFinished(() => fleet.dispose());
  return fleet;
}

/** A lease that ends in the test, and one that does not. */
const SHORT = ['--lease', '4'];
const LONG = ['--lease', '60'];

const alive = (fleet: Fleet) => effectsOf(fleet.project).filter(({ what }) => what === 'alive');
const begins = (fleet: Fleet) =>
  effectsOf(fleet.project).flatMap(({ what, state, attempt }) =>
    what === 'begin' ? [`${state} ${attempt}`] : [],
  );

test('a worker that is killed and starts again adopts its steps', async () => {
  const fleet = await newFleet();
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

test('another worker takes the steps of one that was killed, after its guard has ended them', async () => {
  const fleet = await newFleet();
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

test('a worker that is stopped past its lease does not act any more', async () => {
  const fleet = await newFleet();
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
