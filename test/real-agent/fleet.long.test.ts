// More plays of the real Claude Code on workers of a database. The short forms use scripts.
import { describe, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { call } from './asking-run.ts';
import { ages } from './claude-sandbox.ts';
import { conversationLines, eventsOf } from './raymond-sandbox.ts';
import { realFleet } from './real-fleet.ts';

describe.each(ages)('with the %s Claude Code', (age) => {
  test.concurrent('a stop ends an agent that waits for a permission', async ({
    onTestFinished,
  }) => {
    const files = { 'flow/START.md': 'Q1' };
    const world = await realFleet(age, () => call('one'), files, onTestFinished);
    const { fleet, raymond } = world;
    await world.begin('--ask-permissions');
    await world.worker('left');
    const asks = async () => (await fleet.look('r')).tally.asksPermission > 0;
    await eventually('the agent asks', asks);
    expect(await raymond('stop', 'r')).toMatchObject({ code: 0 });
    expect((await fleet.look('r')).status).toMatchObject({ outcome: 'interrupted' });
    expect(fleet.project.lines('one')).toEqual([]);
    // The agent asks again.
    expect(await raymond('resume', 'r', '--detach')).toMatchObject({ code: 0 });
    await eventually('the agent asks again', asks);
  });

  test.concurrent('a rewound conversation continues on a worker that has never seen it', async ({
    onTestFinished,
  }) => {
    const replies = ['A1 <goto>TWO</goto>', 'A2 <goto>THREE</goto>', 'A3 <result>x</result>'];
    const again = ['B2 <goto>THREE</goto>', 'B3 <result>y</result>'];
    const world = await realFleet(
      age,
      (_, turn) => [...replies, ...again][turn] ?? 'too many',
      { 'flow/START.md': 'Q1', 'flow/TWO.md': 'Q2', 'flow/THREE.md': 'Q3' },
      onTestFinished,
    );
    const { fleet, raymond, model } = world;
    await world.begin();
    const left = await world.worker('left');
    expect((await fleet.ended('r')).result).toBe('x');
    left.child.kill('SIGTERM');
    await left.ended;
    expect(await raymond('rewind', 'r', '--to', 'main:2', '--yes')).toMatchObject({ code: 0 });
    await world.worker('right');
    expect(await raymond('resume', 'r')).toMatchObject({ code: 0, stdout: 'y\n' });
    const told = model.requests.map((request) =>
      conversationLines(request).map((line) => line.replace(/^\w+: /, '').split(' <')[0]),
    );
    expect(told.slice(3)).toEqual([
      ['Q1', 'A1', 'Q2'],
      ['Q1', 'A1', 'Q2', 'B2', 'Q3'],
    ]);
  });

  test.concurrent('a check whose worker died is executed again, and the answer is not paid again', async ({
    onTestFinished,
  }) => {
    const check = 'echo c >>checks; [ -e go ] || { touch began; sleep 600; }';
    const files = { 'flow/START.md': `---\nensures: [{ run: "${check}", say: no }]\n---\nQ1` };
    const world = await realFleet(age, () => '<result>x</result>', files, onTestFinished);
    const { fleet, model } = world;
    await world.begin();
    const left = await world.worker('left', '--lease', '4');
    await fleet.file('began');
    left.child.kill('SIGKILL');
    fleet.project.write('go', '');
    await world.worker('right');
    expect((await fleet.ended('r')).result).toBe('x');
    expect(fleet.project.lines('checks')).toEqual(['c', 'c']);
    expect(model.requests).toHaveLength(1);
    expect(eventsOf(await fleet.events('r'), 'check-called')).toHaveLength(1);
  });
});
