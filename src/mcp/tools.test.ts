import { expect, test } from 'vitest';
import { MemoryRuns, memoryStore } from '../../test/memory-store.ts';
import type { RunControl } from '../app/for-programs.ts';
import { list } from '../app/list.ts';
import { attend, look } from '../app/look.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import type { Clock, RunStore } from '../ports.ts';
import { play } from '../testing.ts';
import { TOOLS, type ToolParts } from './tools.ts';

const SELF = { pid: 1, started: '1', boot: 'b', name: 'process 1', isHere: true };
const { events: PLAYED } = await play({ START: ['<result>x</result>'] });
const STARTED = PLAYED.findIndex(({ type }) => type === 'step-started') + 1;
const [begin, rest] = [PLAYED.slice(0, STARTED), PLAYED.slice(STARTED)];
const ASKED: RunEvent = {
  type: 'permission-asked',
  ...{ at: begin.at(-1)?.at ?? 0, agent: 'main', step: 1 },
  ...{ request: 'r1', tool: 'Bash', summary: 'rm x', input: 'rm x' },
};

const CLOCK: Clock = {
  now: () => Date.now(),
  at(time, callback) {
    const timer = setTimeout(callback, time - Date.now());
    return () => clearTimeout(timer);
  },
};

/** A run at work in a store, and the decisions that reach it. */
async function stage(given: Partial<ToolParts> = {}) {
  const store: RunStore = memoryStore({
    ...{ runs: new MemoryRuns(), self: SELF, sealedText: () => 'own' },
    apply: (run, event) => apply(run ?? newRun, event),
  });
  const decided: unknown[] = [];
  const refuse = async () => {
    throw new Error('not part of this test');
  };
  const world = { lostTrees: async () => [], countLost: async () => 0 };
  const around = { store, clock: CLOCK, world };
  const control: RunControl = {
    list: async (wish) => ({ ...(await list(around, wish)), warnings: [] }),
    look: async (id) => ({ ...(await look(around, id)), warnings: [] }),
    attend: (id, options) => attend(around, id, options),
    async *followStep() {},
    ...{ start: refuse, resume: refuse, stop: refuse, answer: refuse, rewind: refuse },
    ...{
      bound: refuse,
      check: refuse,
      propose: refuse,
      diff: refuse,
      context: refuse,
      prune: refuse,
      say: refuse,
      triggers: refuse,
      replay: refuse,
    },
    ...{ variants: refuse, tryVariants: refuse },
    ...{ files: refuse, file: refuse, keepFile: refuse },
    async decide(id, wanted, decision) {
      decided.push([id, wanted, decision]);
      return { agent: 'main', request: 'r1', isDelivered: true };
    },
  };
  let run = begin.reduce(apply, newRun);
  const { id } = run;
  const lease = await store.lease(id);
  const { journal } = await lease.create(begin, run);
  const append = (...events: readonly RunEvent[]) => {
    run = events.reduce(apply, run);
    return journal.append(events, run);
  };
  const closed = new AbortController();
  const parts = { control, mostBudgetUsd: 5, mayAllow: false, closed: closed.signal };
  const call = async (name: string, input: Readonly<Record<string, unknown>>) =>
    TOOLS.find((tool) => tool.name === name)?.act({ run: id, ...input }, { ...parts, ...given });
  return { call, append, decided, closed };
}

test.each(['allow', 'allow-run'])('%s needs the consent of a person', async (decision) => {
  const { call, decided } = await stage();
  await expect(call('decide', { decision })).rejects.toMatchObject({
    code: 'not-allowed-here',
    remedy: expect.stringContaining('--decide-permissions'),
  });
  expect(decided).toEqual([]);
  const allowed = await stage({ mayAllow: true });
  expect(await allowed.call('decide', { decision })).toMatchObject({ delivered: true });
  expect(allowed.decided).toMatchObject([[expect.any(String), {}, { decision }]]);
});

test('a denial reaches the run with its word', async () => {
  const { call, decided } = await stage();
  await call('decide', { decision: 'deny', text: 'not on main', request: 'r1' });
  expect(decided).toMatchObject([
    [expect.any(String), { request: 'r1' }, { decision: 'deny', text: 'not on main' }],
  ]);
});

test('a watch ends with a permission request, which an earlier position does not miss', async () => {
  const { call, append } = await stage();
  const watching = call('watch', { seconds: 50 });
  await append(ASKED);
  expect(await watching).toMatchObject({ news: true, questions: 1, permissions: 1 });
  expect(await call('watch', { after: begin.length, seconds: 50 })).toMatchObject({ news: true });
  expect(await call('watch', { seconds: 50 })).toMatchObject({ news: true });
});

test('a watch does not end with an event that needs no attention, unless the caller wants all', async () => {
  const { call, append } = await stage();
  expect(await call('watch', { after: 0, seconds: 0.05 })).toMatchObject({ news: false });
  expect(await call('watch', { after: 0, until: 'change', seconds: 50 })).toMatchObject({
    news: true,
  });
  await append(...rest);
  expect(await call('watch', { after: 0, seconds: 50 })).toMatchObject({
    news: true,
    result: { text: 'x' },
    status: 'completed',
  });
});

test('a client that is gone ends its watch', async () => {
  const { call, closed } = await stage();
  const watching = call('watch', { seconds: 50 });
  closed.abort();
  expect(await watching).toMatchObject({ news: false });
});

test('input of another form is refused', async () => {
  const { call } = await stage();
  for (const input of [{ decision: 'maybe' }, { decision: 'deny', force: true }, {}])
    await expect(call('decide', input)).rejects.toThrow();
  await expect(call('watch', { seconds: 51 })).rejects.toThrow();
});
