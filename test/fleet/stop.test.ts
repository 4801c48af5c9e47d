// A worker that cannot reach its database can still be stopped.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { type Network, startProxy } from '../postgres/proxy.ts';
import { effectsOf, WAITING } from './effects.ts';
import { Fleet } from './fleet.ts';

const FLOW = { 'flow/START.sh': `${WAITING}echo "<result>$RAYMOND_ATTEMPT</result>"\n` };

interface Trouble {
  readonly name: string;
  readonly begin: (proxy: Network) => unknown;
}

const TROUBLES: readonly Trouble[] = [
  { name: 'refuses connections', begin: (proxy) => proxy.close() },
  { name: 'does not answer', begin: (proxy) => proxy.swallowAll() },
];

/** Only the worker itself is left of its processes. */
function isQuiet(worker: number): boolean {
  return readFileSync(`/proc/${worker}/task/${worker}/children`, 'utf8').trim() === '';
}

/** The suite tries each trouble once. */
const troubles = (index: number) => TROUBLES.filter((_, one) => isLong || one === index);

type AtEnd = (act: () => Promise<void>) => void;

async function newPlay(atEnd: AtEnd) {
  const url = await newDatabase(atEnd);
  const fleet = await Fleet.open(url, FLOW);
  atEnd(() => fleet.dispose());
  const proxy = await startProxy(url);
  atEnd(() => proxy.close());
  const run = await fleet.begin('flow');
  const worker = fleet.worker('a', ['--lease', '4'], { RAYMOND_DATABASE: proxy.url });
  const isAlive = () => effectsOf(fleet.project).some(({ what }) => what === 'alive');
  await eventually('the step runs', isAlive);
  return { fleet, proxy, run, worker };
}

test.concurrent.for(troubles(0))(
  'a worker that has lost its lease stops while its database $name',
  async ({ begin }, { onTestFinished }) => {
    const { fleet, proxy, run, worker } = await newPlay(onTestFinished);
    await begin(proxy);
    await eventually('it is lost', () => worker.stderr().includes('The worker a ends its steps'));
    await eventually('its steps have ended', () => isQuiet(worker.pid));
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
    fleet.project.write('go', '');
    fleet.worker('b', ['--lease', '4']);
    expect(await fleet.ended(run)).toMatchObject({ result: '2' });
  },
);

test.concurrent.for(troubles(1))(
  'a worker with a step stops at the end of its lease while its database $name',
  async ({ begin }, { onTestFinished }) => {
    const { fleet, proxy, run, worker } = await newPlay(onTestFinished);
    await begin(proxy);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
    fleet.project.write('go', '');
    fleet.worker('b', ['--lease', '4']);
    expect(await fleet.ended(run)).toMatchObject({ result: '2' });
  },
);
