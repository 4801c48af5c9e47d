import { expect, onTestFinished, test } from 'vitest';
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

test('a stop that cannot be posted is reported', async () => {
  const runs = new MemoryRuns();
  const store = memoryStore({
    apply: (run, event) => apply(run ?? newRun, event),
    sealedText: ({ id }) => id,
    self: { pid: 1, started: '1', boot: '1', name: 'process 1', isHere: true },
    runs,
  });
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
      ...{ observers: [], observerFailed: () => {}, person: NOBODY },
      alert: { bell() {}, note() {} },
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
