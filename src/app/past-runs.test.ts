import { expect, test } from 'vitest';
import { MemoryRuns, memoryStore } from '../../test/memory-store.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent, Settings } from '../model/event.ts';
import type { RunStore } from '../ports.ts';
import { play } from '../testing.ts';
import { pastRuns } from './past-runs.ts';

const FILES = { 'START.md': 'a'.repeat(64) };
const SELF = { pid: 1, started: '1', boot: 'b', name: 'process 1', isHere: true };

/** A store that counts the journals that it reads. */
function countingStore() {
  const parts = { runs: new MemoryRuns(), self: SELF, sealedText: () => 'own' };
  const whole = memoryStore({ ...parts, apply: (run, event) => apply(run ?? newRun, event) });
  const looks: string[] = [];
  const store: RunStore = {
    ...whole,
    look(id, each) {
      looks.push(id);
      return whole.look(id, each);
    },
  };
  return { store, looks };
}

const { events: EVENTS, run: PLAYED } = await play({ START: ['<result>x</result>'] });

interface Kept {
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Partial<Settings>;
  readonly events?: readonly RunEvent[];
}

async function keep(
  store: RunStore,
  id: string,
  { files = FILES, settings, events = EVENTS }: Kept = {},
) {
  const read: RunEvent = { type: 'workflow-read', at: 1, workflow: PLAYED.workflow, files };
  const all = events.flatMap((event): readonly RunEvent[] =>
    event.type === 'run-started'
      ? [{ ...event, run: id, settings: { ...event.settings, ...settings } }, read]
      : [event],
  );
  const lease = await store.lease(id);
  const { journal } = await lease.create(all, all.reduce(apply, newRun));
  await journal.close();
  await lease.release();
}

const found = (store: RunStore) => pastRuns(store, PLAYED.workflow, FILES);

test('each journal is read once, and at most fifty are', async () => {
  const { store, looks } = countingStore();
  for (let n = 0; n < 60; n += 1) await keep(store, `run-${n}`);
  expect(await found(store)).toHaveLength(50);
  expect(looks).toHaveLength(50);
  expect(await found(store)).toHaveLength(50);
  expect(looks).toHaveLength(50);
  const later = EVENTS.map((event) => ({ ...event, at: event.at + 1e9 }));
  await keep(store, 'newest', { events: later });
  expect((await found(store)).map(({ id }) => id)).toContain('newest');
  expect(looks.slice(50)).toEqual(['newest']);
});

test('a workflow with other files is another workflow', async () => {
  const { store } = countingStore();
  await keep(store, 'old', { files: { 'START.md': 'b'.repeat(64) } });
  await keep(store, 'new');
  expect((await found(store)).map(({ id }) => id)).toEqual(['new']);
  expect(await pastRuns(store, PLAYED.workflow, undefined)).toEqual([]);
  expect(await pastRuns(store, '/another', FILES)).toEqual([]);
});

test('rehearsals and unfinished runs do not count', async () => {
  const { store } = countingStore();
  await keep(store, 'rehearsed', { settings: { rehearse: true } });
  await keep(store, 'begun', { events: EVENTS.slice(0, 3) });
  await keep(store, 'done');
  expect((await found(store)).map(({ id }) => id)).toEqual(['done']);
});

test.each(['[{"id":"done"}]', '{}', 'no JSON'])('a cache with %s is made again', async (text) => {
  const { store, looks } = countingStore();
  await keep(store, 'done');
  const spoiled = { ...store, cache: () => ({ ...store.cache('x'), read: async () => text }) };
  expect(await pastRuns(spoiled, PLAYED.workflow, FILES)).toHaveLength(1);
  expect(looks).toEqual(['done']);
});
