// Workers that are killed between the end of a step and its decision, and twice in the same step.
import { expect, type TestContext, test } from 'vitest';
import type { JournaledEvent } from '../../src/model/event.ts';
import { eventually } from '../eventually.ts';
import { inSuite } from '../long.ts';
import { newDatabase } from '../postgres/new-database.ts';
import type { Started } from '../raymond.ts';
import { effectsOf, overlaps, RECORDING, WAITING } from './effects.ts';
import { Fleet } from './fleet.ts';
import { killUndecided } from './kill-undecided.ts';

const FLOW = {
  'any/START.sh': `echo '<fork>WAIT</fork><fork>ASK</fork><join of="any">END</join>'\n`,
  'any/WAIT.sh': WAITING,
  'any/ASK.sh': `echo '<ask next="BACK">Go on?</ask>'\n`,
  'any/BACK.sh': 'echo "<result>back</result>"\n',
  'any/END.sh': 'echo "<result>ok</result>"\n',
  'flow/START.sh': `${WAITING}echo "<goto>END.sh</goto>"\n`,
  'flow/END.sh': `${RECORDING}echo "<result>ok</result>"\n`,
};

async function newFleet({ onTestFinished }: TestContext): Promise<Fleet> {
  const fleet = await Fleet.open(await newDatabase(onTestFinished), FLOW);
  onTestFinished(() => fleet.dispose());
  return fleet;
}

// The tests mostly wait for leases, so they do it together.

/** The guard ends the steps of a worker that dies when its lease is over. */
const SHORT = ['--lease', '4'];
const LONG = ['--lease', '60'];

const seen = (fleet: Fleet, wanted: 'begin' | 'end') =>
  effectsOf(fleet.project).flatMap(({ what, state, attempt }) =>
    what === wanted ? [`${state} ${attempt}`] : [],
  );
const begun = (fleet: Fleet, step: string) =>
  eventually(`${step} begins`, () => seen(fleet, 'begin').includes(step));

/** Lets the script of the worker finish, and kills the worker before it decides about the end. */
async function killAtEnd(fleet: Fleet, run: string, worker: Started): Promise<void> {
  await begun(fleet, 'START.sh 1');
  await killUndecided(fleet, run, worker, () => fleet.project.write('go', ''));
  expect(seen(fleet, 'end')).toEqual(['START.sh 1']);
}

test.concurrent('the same worker adopts a step that ended before its decision, and does not repeat it', async (context) => {
  const fleet = await newFleet(context);
  const run = await fleet.begin('flow');
  await killAtEnd(fleet, run, fleet.worker('a', LONG));
  fleet.worker('a', LONG);
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' }, result: 'ok' });
  expect(seen(fleet, 'begin')).toEqual(['START.sh 1', 'END.sh 1']);
  expect(seen(fleet, 'end')).toEqual(['START.sh 1', 'END.sh 1']);
});

test.concurrent('another worker repeats a step that ended before its decision, once', async (context) => {
  const fleet = await newFleet(context);
  const run = await fleet.begin('flow');
  await killAtEnd(fleet, run, fleet.worker('a', LONG));
  await fleet.endLease('a');
  fleet.worker('b', LONG);
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' }, result: 'ok' });
  expect(seen(fleet, 'begin')).toEqual(['START.sh 1', 'START.sh 2', 'END.sh 1']);
  expect(overlaps(effectsOf(fleet.project))).toEqual([]);
});

test.concurrent('a script whose workers died twice fails with a remedy, and a resume continues', async (context) => {
  const fleet = await newFleet(context);
  const run = await fleet.begin('flow');
  for (const [name, step] of [
    ['a', 'START.sh 1'],
    ['b', 'START.sh 2'],
  ] as const) {
    await killed(fleet, fleet.worker(name, SHORT), step);
  }
  fleet.worker('c', LONG);
  expect((await fleet.ended(run)).status).toMatchObject({ outcome: 'failed' });
  expect(seen(fleet, 'begin')).toEqual(['START.sh 1', 'START.sh 2']);
  const env = { RAYMOND_DATABASE: fleet.url };
  const shown = await fleet.project.run(['show', run], { env });
  expect(shown.stdout).toContain('It is unknown how START.sh ended: its worker died.');
  expect(shown.stdout).toContain(`check what the script has done, then run: raymond resume ${run}`);

  fleet.project.write('go', '');
  const resumed = await fleet.project.run(['resume', run], { env });
  expect(resumed).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(seen(fleet, 'begin').slice(2)).toEqual(['START.sh 3', 'END.sh 1']);
  expect(overlaps(effectsOf(fleet.project))).toEqual([]);
});

// In the suite, test/fleet/turn.test.ts stops steps that no worker has.
test.concurrent.for(inSuite([], ['stop --now', 'stop']))(
  'after "%s" a script whose worker is dead is not repeated, and a resume repeats it',
  async (words, context) => {
    const fleet = await newFleet(context);
    const run = await fleet.begin('flow');
    await killed(fleet, fleet.worker('a', LONG), 'START.sh 1');
    fleet.worker('b', LONG);
    const env = { RAYMOND_DATABASE: fleet.url };
    const stopping = fleet.project.run([...words.split(' '), run], { env });
    await happens(fleet, run, 'stop-requested');
    await fleet.endLease('a');
    expect(await stopping).toMatchObject({ code: 0 });
    expect((await fleet.ended(run)).status).toMatchObject({ outcome: 'interrupted' });
    expect(seen(fleet, 'begin')).toEqual(['START.sh 1']);
    fleet.project.write('go', '');
    const resumed = await fleet.project.run(['resume', run], { env });
    expect(resumed).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(seen(fleet, 'begin')).toEqual(['START.sh 1', 'START.sh 2', 'END.sh 1']);
  },
);

test.concurrent('a join that stops a script whose worker is dead continues, and the script is not repeated', async (context) => {
  const fleet = await newFleet(context);
  const run = await fleet.begin('any');
  const first = fleet.worker('a', LONG);
  await fleet.asks(run);
  await killed(fleet, first, 'WAIT.sh 1');
  fleet.worker('b', LONG);
  const env = { RAYMOND_DATABASE: fleet.url };
  expect(await fleet.project.run(['answer', run, 'yes'], { env })).toMatchObject({ code: 0 });
  await happens(fleet, run, 'agent-stop-requested');
  await fleet.endLease('a');
  expect(await fleet.ended(run)).toMatchObject({ status: { outcome: 'completed' }, result: 'ok' });
  expect(seen(fleet, 'begin')).toEqual(['WAIT.sh 1']);
});

async function killed(fleet: Fleet, worker: Started, step: string): Promise<void> {
  await begun(fleet, step);
  worker.child.kill('SIGKILL');
  await worker.ended;
}

const happens = (fleet: Fleet, run: string, event: JournaledEvent['type']) =>
  eventually(
    `${event} happens`,
    async () => (await fleet.events(run)).some(({ type }) => type === event),
    50,
  );
