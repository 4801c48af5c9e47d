// The habits of pi-acp, with a scripted agent. The long tests have the real one.
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PI_ADAPTER } from '../../src/execute/acp/pi-adapter.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { StepOutcome } from '../../src/ports.ts';
import { eventually } from '../eventually.ts';
import { fresh, leftTurn, scriptedWith } from './scripted-acp.ts';

const pi = (...more: string[]) =>
  scriptedWith({ adapter: PI_ADAPTER, totals: 'kept' }, 'pi', 'load', ...more);

const USAGE = { inputTokens: 60, outputTokens: 20, cacheReadTokens: 40, cacheWriteTokens: 0 };

test('neither the greeting nor the remarks of the program are part of the answer', async () => {
  const { ask, lives, close } = await pi();
  const first = await ask('says the answer', fresh());
  expect(first).toMatchObject({ kind: 'answered', output: 'the answer' });
  expect(await ask('retries the whole answer', goOn(first))).toMatchObject({
    kind: 'answered',
    output: 'the whole answer',
  });
  const texts = lives.flatMap((live) => (live.kind === 'text' ? [live.text] : []));
  expect(texts).toEqual([
    'the answer',
    'Half an ans',
    'Retrying (attempt 1/3, waiting 2s)...',
    'Retry finished, resuming.',
    'the whole answer',
  ]);
  await close();
});

test.each([{ warm: true }, { warm: false }])(
  'the program is asked for the cost after each turn (%o)',
  async (how) => {
    const { ask, log, close } = await pi();
    const first = await ask('one', fresh(), how);
    const second = await ask('two', goOn(first), how);
    const other = await ask('three', fresh(), how);
    const third = await ask('four', goOn(second), how);
    for (const { account } of [first, second, other, third])
      expect(account).toMatchObject({ cost: { usd: 0.25, from: 'told' }, usage: USAGE });
    // The question is no part of a conversation.
    expect(log().at(-1)?.history).toHaveLength(5);
    await close();
  },
);

test('a model without a price in the own table of pi is priced from its tokens', async () => {
  const { ask, close } = await pi('unpriced');
  const first = await ask('one', fresh());
  const second = await ask('two', goOn(first));
  const cost = { usd: expect.closeTo((100 * 30 + 20 * 180) / 1_000_000, 9), from: 'priced' };
  for (const { account } of [first, second]) expect(account).toMatchObject({ cost, usage: USAGE });
  await close();
});

test.each([
  ['401: {"message":"no"}', 'not-logged-in'],
  ['429 rate limit', 'overloaded'],
  ['Connection error.', 'connection-lost'],
])('a turn without an answer fails with the reason of its session: %s', async (reason, kind) => {
  const { ask, world } = await pi();
  const outcome = await ask(`fails ${reason}`, fresh());
  // As after any failure, the process is not kept.
  expect(world.left()).toEqual([]);
  expect(outcome).toMatchObject({ kind: 'failed', failure: { kind } });
  expect(outcome.account.cost).toEqual({ usd: 0, from: 'told' });
  expect(JSON.stringify(outcome)).toContain(JSON.stringify(reason).slice(1, -1));
});

test('an adopted turn has its cost', async () => {
  const play = await pi();
  const { file } = play;
  const { waits, later } = await leftTurn(play);
  const adopted = later.adopt(waits, () => {});
  await writeFile(file('go'), '');
  expect(await adopted.outcome).toMatchObject({
    kind: 'answered',
    output: 'the answer',
    account: { cost: { usd: 0.25, from: 'told' } },
  });
  await later.close?.();
});

test('a turn that another process adopts before the statement has its cost', async () => {
  const { world, step, file } = await pi();
  await writeFile(file('home/held'), '');
  const asked = step('one', fresh());
  const running = world.executor.start(asked, () => {});
  const stdout = join(asked.folder, 'stdout');
  await eventually('the program is asked', () => existsSync(file('home/asked')));
  world.leave();
  expect(await running.outcome).toMatchObject({ kind: 'interrupted' });
  await rm(file('home/held'));
  // The earlier statement is then in the same piece of output as the answer.
  await eventually('it states', () => readFileSync(stdout, 'utf8').includes('Tokens: '));
  const later = world.again();
  onTestFinished(() => later.close?.());
  const adopted = later.adopt(asked, () => {});
  expect(await adopted.outcome).toMatchObject({
    kind: 'answered',
    output: 'the answer',
    account: { cost: { usd: 0.25, from: 'told' }, usage: USAGE },
  });
  await later.close?.();
  expect(world.left()).toEqual([]);
});

test('a lost first turn leaves an empty session, which gets the whole prompt again', async () => {
  const { world, step, ask, log, file } = await pi();
  const lost = step(`wait ${file('go')}`, fresh());
  const running = world.executor.start(lost, () => {});
  await eventually('the model speaks', () => log().length > 0);
  const { pid } = log()[0] ?? {};
  process.kill(pid ?? 0, 'SIGKILL');
  const outcome = await running.outcome;
  await ask('says again', goOn(outcome), { previousFolder: lost.folder, attempt: 2, warm: false });
  expect(log().at(-1)?.history.slice(0, 1)).toEqual(['says again']);
});

test('a session of which the agent has lost the messages is gone', async () => {
  const { ask, file } = await pi();
  const first = await ask('one', fresh(), { warm: false });
  await rm(file(`home/${first.account.session?.id}.json`));
  const second = await ask('two', goOn(first), { warm: false });
  expect(second).toMatchObject({ kind: 'failed', failure: { kind: 'session-gone' } });
});

const goOn = ({ account }: StepOutcome): SessionUse => {
  if (!account.session) throw new Error('The turn has no session.');
  return { use: 'continue', id: account.session.id };
};
