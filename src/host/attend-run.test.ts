import { expect, onTestFinished, test, vi } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { MemoryRuns, memoryStore } from '../../test/memory-store.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Clock } from '../ports.ts';
import { NOBODY } from './ask-person.ts';
import { attendRun } from './attend-run.ts';

const clock: Clock = {
  now: () => Date.now(),
  at(time, callback) {
    const timer = setTimeout(callback, time - Date.now());
    return () => clearTimeout(timer);
  },
};

const APART = {
  ...{ observers: [], observerFailed: () => {}, person: NOBODY, warn: () => {} },
  alert: { bell() {}, note() {} },
  stops: () => () => {},
};

function stage() {
  const runs = new MemoryRuns();
  const store = memoryStore({
    apply: (run, event) => apply(run ?? newRun, event),
    sealedText: ({ id }) => id,
    self: { pid: 1, started: '1', boot: '1', name: 'process 1', isHere: true },
    runs,
  });
  return { runs, store };
}

test('a stop that cannot be posted is reported', async () => {
  const { runs, store } = stage();
  const { events, run } = makeRun({ START: [] });
  const lease = await store.lease(run.id);
  onTestFinished(() => lease.release());
  await lease.create(events, run);
  const post = () => Promise.reject(new Error('The connection was lost.'));
  const mailbox = (id: string) => ({ ...store.mailbox(id), post });
  const warned: string[] = [];
  const attended = attendRun(
    { store: { ...store, mailbox }, clock, id: run.id, from: 1, known: run.seq },
    {
      ...APART,
      stops(act) {
        act('now');
        return () => {};
      },
      warn(text) {
        warned.push(text);
        runs.expire(run.id);
      },
    },
  );
  expect(await attended).toMatchObject({ isStopAwaited: false });
  expect(warned).toEqual(['The connection was lost.']);
});

test('an ended run is followed if a process is about to resume it, and else left', async () => {
  const { store } = stage();
  const made = makeRun({ START: [] });
  made.stop('drain');
  made.idle();
  expect(made.run.status.kind).toBe('ended');
  const { id, seq } = made.run;
  const lease = await store.lease(id);
  const { journal } = await lease.create(made.events, made.run);
  const isOwned = vi.fn(store.owner);
  const attend = () => {
    const types: string[] = [];
    const attended = attendRun(
      { store: { ...store, owner: isOwned }, clock, id, from: 1, known: seq },
      {
        ...APART,
        observers: [['The test', { event: ({ type }) => void types.push(type), live() {} }]],
      },
    );
    return attended.then(({ found }) => ({ seq: found.run.seq, types: types.slice(seq) }));
  };
  const attended = attend();
  // Once by the follower of the run, and once at the newest event.
  await vi.waitUntil(() => isOwned.mock.settledResults.length >= 2, 10_000);
  const resumed = made.resume();
  await journal.append(resumed, made.run);
  await lease.release();
  const types = resumed.map(({ type }) => type);
  expect(await attended).toEqual({ seq: seq + types.length, types });
  expect(await attend()).toMatchObject({ seq: seq + types.length });
});
