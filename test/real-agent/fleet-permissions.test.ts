// Permission requests of the real Claude Code on workers of a database.
import { describe, expect, type TestContext, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { inSuite } from '../long.ts';
import { startServer } from '../postgres/server.ts';
import { served } from '../serve/served.ts';
import { call } from './asking-run.ts';
import { type Age, suiteAges } from './claude-sandbox.ts';
import { answering, eventsOf, lastPrompt } from './raymond-sandbox.ts';
import { type RealFleet, realFleet } from './real-fleet.ts';
import type { Script } from './scripted-model.ts';

// The tests mostly wait for leases and agents, so they do it together.
describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test.concurrent('a decision of another process reaches the agent, and one for the run holds on other workers', async (context) => {
    const script = answering({
      'Do one.': call('one'),
      'Do two': call('two'),
      '[result': ['<ask next="NEXT">Go on?</ask>', '<result>done</result>'],
    });
    const world = await openFleet(context, age, script);
    const { fleet, raymond } = world;
    const left = await world.worker('left');
    await asked(world, 1);
    expect((await raymond('list')).stdout).toContain('1 asks you');
    expect(timesOf(world, 'one')).toBe(0);
    expect(await raymond('answer', 'r', 'allow-run')).toMatchObject({ code: 0 });
    await fleet.asks('r');
    expect(timesOf(world, 'one')).toBe(1);
    left.child.kill('SIGTERM');
    await left.ended;
    const right = await world.worker('right');
    expect(await raymond('answer', 'r', 'yes')).toMatchObject({ code: 0 });
    expect((await ended(world, right.stderr)).result).toBe('done');
    expect([timesOf(world, 'one'), timesOf(world, 'two')]).toEqual([1, 1]);
    expect(await asks(world)).toBe(1);
  });

  test.concurrent('after a kill of the worker, the same worker gives the decision to the agent that waits', async (context) => {
    const world = await openFleet(context, age, callsOnce);
    const { raymond, model } = world;
    const first = await world.worker('left');
    await asked(world, 1);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await raymond('answer', 'r', 'allow')).toMatchObject({ code: 0 });
    const late = await raymond('answer', 'r', 'deny', 'no');
    expect(late.stderr).toContain('already');
    expect(timesOf(world, 'one')).toBe(0);
    const again = await world.worker('left');
    expect((await ended(world, again.stderr)).result).toBe('done');
    expect(timesOf(world, 'one')).toBe(1);
    expect(await asks(world)).toBe(1);
    // The agent outlived its worker: nothing was paid twice.
    expect(model.requests).toHaveLength(2);
  });

  test.concurrent.for(inSuite<NodeJS.Signals>(['SIGKILL'], ['SIGTERM']))(
    'after %s of the worker, the agent asks again on another one, and acts once',
    async (signal, context) => {
      const world = await openFleet(context, age, callsOnce);
      const { raymond, fleet } = world;
      const first = await world.worker('left', '--lease', '4');
      await asked(world, 1);
      first.child.kill(signal);
      await first.ended;
      // The request dies with its agent. A person may still decide about it before that is known.
      const late = await raymond('answer', 'r', 'allow');
      expect(late.code).toBe(signal === 'SIGKILL' ? 0 : 64);
      const second = await world.worker('right');
      await asked(world, 2);
      expect(timesOf(world, 'one')).toBe(0);
      const server = await served(fleet.project, { RAYMOND_DATABASE: fleet.url });
      const permission = await server.post('/api/runs/r/permission', { decision: 'allow' });
      expect(permission).toMatchObject({ status: 200 });
      expect((await ended(world, second.stderr)).result).toBe('done');
      expect(timesOf(world, 'one')).toBe(1);
      expect(await asks(world)).toBe(2);
    },
  );

  test.concurrent.for(inSuite<'fast' | 'immediate'>([], ['immediate', 'fast']))(
    'a restart of the database (%s) loses no request and no decision',
    async (how, context) => {
      const server = await startServer();
      context.onTestFinished(() => server.dispose());
      const world = await openFleet(context, age, callsOnce, server.url());
      const { raymond } = world;
      const only = await world.worker('only');
      await asked(world, 1);
      await server.stop(how);
      await server.start();
      expect(await raymond('answer', 'r', 'allow')).toMatchObject({ code: 0 });
      expect((await ended(world, only.stderr)).result).toBe('done');
      expect(timesOf(world, 'one')).toBe(1);
      expect(await asks(world)).toBe(1);
      expect(world.model.requests).toHaveLength(2);
    },
  );
});

/** Makes one call, until it has a result that says that it worked. */
const callsOnce: Script = (request) =>
  lastPrompt(request).startsWith('[result') ? '<result>done</result>' : call('one');

async function openFleet(
  { onTestFinished }: TestContext,
  age: Age,
  script: Script,
  url?: string,
): Promise<RealFleet> {
  const files = { 'flow/START.md': 'Do one.', 'flow/NEXT.md': 'Do two, {{result}}.' };
  const world = await realFleet(age, script, files, onTestFinished, url);
  await world.begin('--ask-permissions');
  return world;
}

async function asks({ fleet }: RealFleet): Promise<number> {
  return eventsOf(await fleet.events('r'), 'permission-asked').length;
}

/** Waits until the agent waits for a decision, and has asked this many times. */
function asked(world: RealFleet, times: number): Promise<void> {
  return eventually(`request ${times} waits`, async () => {
    const { tally } = await world.fleet.look('r');
    return tally.asksPermission > 0 && (await asks(world)) === times;
  });
}

async function ended({ fleet }: RealFleet, stderr: () => string) {
  return fleet.ended('r').catch((error) => {
    throw new Error(`${stderr()}\n${error}`);
  });
}

function timesOf({ fleet }: RealFleet, name: string): number {
  return fleet.project.lines(name).filter((line) => line.startsWith('curl ')).length;
}
