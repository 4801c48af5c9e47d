// Trouble of the server while runs are watched and changed.
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { RunEvent } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { RunLost } from '../../src/model/run-lost.ts';
import type { RunStore } from '../../src/ports.ts';
import { collected, started, temporaryFolder, woke } from '../journal/fixtures.ts';
import { patiently } from '../patiently.ts';
import { administer } from './new-database.ts';
import { type PostgresServer, type ServerSettings, startServer } from './server.ts';
import { open, prepare, storeAt } from './stores.ts';

const ID = started.run;

async function ownServer(settings: ServerSettings = {}): Promise<PostgresServer> {
  const server = await startServer(settings);
  onTestFinished(() => server.dispose());
  await prepare(server.url());
  return server;
}

async function begin(store: RunStore) {
  const lease = await store.lease(ID);
  let run: Run = apply(newRun, started);
  const { journal } = await lease.create([started], run);
  const append = (...events: readonly RunEvent[]) => {
    run = events.reduce(apply, run);
    return journal.append(events, run);
  };
  return { lease, append };
}

/** Collects what a watcher sees. */
function watching(store: RunStore, after = 0) {
  const over = new AbortController();
  const seqs: number[] = [];
  const done = (async () => {
    for await (const { seq } of store.watch(ID, after, over.signal)) seqs.push(seq);
  })();
  onTestFinished(async () => {
    over.abort();
    await done;
  });
  return seqs;
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

test('a restart of the server ends no watch and no append, and no event is missing or repeated', async () => {
  const server = await ownServer();
  const key = userKey(realDisk, join(await temporaryFolder(), 'key'));
  const store = await storeAt('one', open(server.url()), { key, lookEveryMs: 60_000 });
  const other = await storeAt('two', open(server.url()), { key, lookEveryMs: 60_000 });
  const { append } = await begin(store);
  const seen = watching(other);
  await patiently(() => expect(seen).toEqual([1]));
  let last = 1;
  for (const how of ['immediate', 'fast'] as const) {
    const appending = Promise.all(
      numbers(1, 20).map(async (n) => {
        if (n === 5) await server.stop(how);
        if (n === 6) await server.start().catch(() => server.start());
        return append(woke(n));
      }),
    );
    await appending;
    last += 20;
    await patiently(() => expect(seen).toEqual(numbers(1, last)));
  }
  const mail: string[] = [];
  const reading = await other.mailbox(ID).read({
    onMessage: (message) => mail.push(message.kind),
    onTrouble: (text) => expect.fail(text),
  });
  await server.stop('immediate');
  const posting = store.mailbox(ID).post({ kind: 'stop', how: 'now', pid: 0 });
  await server.start();
  expect(await posting).toBe(true);
  await patiently(() => expect(mail).toEqual(['stop']));
  reading.close();
});

test('a watch ends when it is aborted while the server is away', async () => {
  const server = await ownServer();
  const store = await storeAt('one', open(server.url()));
  await begin(store);
  const over = new AbortController();
  const watch = store.watch(ID, 0, over.signal)[Symbol.asyncIterator]();
  await watch.next();
  await server.stop('immediate');
  const next = watch.next();
  over.abort();
  expect(await next).toMatchObject({ done: true });
});

test('exhausted connections end no watch and no append', async () => {
  const server = await ownServer({ maxConnections: 12 });
  const store = await storeAt('one', open(server.url(), { connections: 2 }));
  const other = await storeAt('two', open(server.url(), { connections: 2 }), { lookEveryMs: 50 });
  const { append } = await begin(store);
  const seen = watching(other);
  await patiently(() => expect(seen).toEqual([1]));
  // Every connection of the stores ends, and others take all places.
  await administer(
    server.url(),
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()',
  );
  const hogs = await hogAll(server.url());
  const appended = append(woke(2));
  await expect(connected(server.url())).rejects.toMatchObject({ code: '53300' });
  await Promise.all(hogs.map((hog) => hog.end()));
  await appended;
  await patiently(() => expect(seen).toEqual([1, 2]));
});

async function hogAll(url: string): Promise<readonly pg.Client[]> {
  const hogs: pg.Client[] = [];
  for (;;) {
    try {
      hogs.push(await connected(url));
    } catch {
      return hogs;
    }
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

test('a takeover during a change of the old owner: one of the two happens, and then the other is refused', async () => {
  const server = await ownServer();
  const url = server.url();
  for (const first of ['append', 'takeover'] as const) {
    await administer(url, 'delete from raymond.runs', 'delete from raymond.leases');
    const store = await storeAt('one', open(url));
    const other = await storeAt('two', open(url));
    const { append, lease } = await begin(store);
    await administer(url, "update raymond.leases set until = now() - interval '1 hour'");
    // Both wait for this lock, in the order of their calls.
    const blocker = await connected(url);
    await blocker.query('begin');
    await blocker.query('select from raymond.runs for update');
    const acts = {
      append: () =>
        append(woke(2)).then(
          () => 'appended',
          (error) => error,
        ),
      takeover: () =>
        other.lease(ID).then(
          () => 'taken',
          (error) => error,
        ),
    };
    const second = first === 'append' ? 'takeover' : 'append';
    const one = acts[first]();
    await waitersFor(url, 1);
    const two = acts[second]();
    await waitersFor(url, 2);
    await blocker.query('commit');
    await blocker.end();
    const events = async () => (await collected(store.events(ID))).length;
    if (first === 'append') {
      expect(await one).toBe('appended');
      expect(await two).toMatchObject({ code: 'run-locked' });
      expect(await events()).toBe(2);
    } else {
      expect(await one).toBe('taken');
      expect(await two).toBeInstanceOf(RunLost);
      expect(await events()).toBe(1);
    }
    await lease.release();
  }
});

/** Waits until this many transactions wait for a lock. */
async function waitersFor(url: string, count: number): Promise<void> {
  const client = await connected(url);
  try {
    await patiently(async () => {
      const { rows } = await client.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock'",
      );
      expect(rows).toHaveLength(count);
    });
  } finally {
    await client.end();
  }
}
