// Trouble that a store in files does not have: texts that the server refuses, other versions and rights.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import { JOURNAL_VERSION, type RunEvent } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import type { RunStore } from '../../src/ports.ts';
import type { Database } from '../../src/postgres/database.ts';
import { checkHead, linkFacts, sealHead } from '../../src/postgres/head.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { appendEvents, lockRow, runOf } from '../../src/postgres/run-row.ts';
import { rowSeals, UNCHECKED_ROWS } from '../../src/postgres/seals.ts';
import { type Heads, headsIn } from '../../src/postgres/seen-heads.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { collected, started, temporaryFolder, versionOne, woke } from '../journal/fixtures.ts';
import { inSuite } from '../long.ts';
import { administer, newDatabase } from './new-database.ts';
import { open, sharedDatabase, storeAt } from './stores.ts';

const emptied = sharedDatabase();
const ID = started.run;
const PARTS = { codec: runCodec, rows: UNCHECKED_ROWS };

async function stage() {
  const database = open(await emptied(), { connections: 8 });
  return { database, store: await storeAt('one', database) };
}

/** A run with these events after the first one. */
async function begun(store: RunStore, ...events: readonly RunEvent[]): Promise<Run> {
  const lease = await store.lease(ID);
  const all = [started, ...events];
  const run = all.reduce<Run>(apply, newRun);
  await lease.create(all, run);
  await lease.release();
  return run;
}

const answered = (text: string): RunEvent => ({
  type: 'agent-answered',
  at: 7,
  agent: 'main',
  text,
});

describe('texts', () => {
  const STRANGE = [
    ['NUL', 'a\0b \\u0000 \\'],
    ['lone surrogates', 'x\ud800y\udc00z'],
    ['quotes and SQL', `'; drop table raymond.runs; -- $1 {} "\\"`],
    ['a line end of another system', 'a\u2028b\r\n\t\u0007\u001b[31m'],
  ] as const;

  test.each(STRANGE)('%s survive everywhere', async (_, text) => {
    const { store } = await stage();
    await begun(store, answered(text));
    const [, event] = await collected(store.events(ID));
    expect(event).toMatchObject({ text });
    await store.mailbox(ID).post({ kind: 'answer', agent: text, askedAt: 1, text });
    expect(await store.mailbox(ID).messages()).toMatchObject([{ agent: text, text }]);
    const lease = await store.lease(ID);
    const now = { at: 1, agents: [{ agent: text, step: 1, words: { at: 1, text } }], omitted: 0 };
    await lease.publish(now);
    expect(await store.now(ID)).toEqual(now);
    await lease.release();
    expect(await store.survey()).toHaveLength(1);
  });

  test.each(inSuite([2], [16]))('an event of %i MB is stored and read', async (megabytes) => {
    const { store } = await stage();
    const text = `${'ä"\\\n\0'.repeat(megabytes * 2 ** 16)}end`;
    const run = await begun(store, answered(text), woke(8));
    const events = await collected(store.events(ID));
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(events[1]).toMatchObject({ text });
    const found = await store.look(ID);
    expect(found).toMatchObject({ kind: 'stored', run: { seq: run.seq } });
  });

  test.each([
    'a\0b',
    "x'; drop table raymond.runs; --",
    '../../etc/passwd',
    '',
    'x'.repeat(10_000),
  ])('no run has such an id (%#)', async (id) => {
    const { store } = await stage();
    await begun(store);
    expect(await store.look(id)).toMatchObject({ kind: 'damaged', problem: { code: 'no-run' } });
    expect(await store.owner(id)).toBeUndefined();
    expect(await store.now(id)).toBeUndefined();
    await expect(store.lease(id)).rejects.toMatchObject({ code: 'no-run' });
    await expect(collected(store.events(id))).rejects.toMatchObject({ code: 'no-run' });
    const record = store.records(id).read({ agent: 'a\0', step: 1 }, 'answer', 10);
    expect(await record).toBeUndefined();
    expect(await store.list()).toEqual([ID]);
  });
});

describe('many', () => {
  test('a list of 1000 runs reads no events', async () => {
    const { store, database } = await stage();
    await begun(store, woke(2));
    await database.query(
      `insert into raymond.runs (id, seq, version, status, summary, link, head_seal, kept)
       select 'run-' || n, seq, version, status, summary, link, head_seal, kept
       from raymond.runs, generate_series(1, 1000) n`,
    );
    await database.query('delete from raymond.events');
    const found = await store.survey();
    expect(found).toHaveLength(1001);
    expect(found.every(({ kind }) => kind === 'stored')).toBe(true);
  });

  test.each(inSuite([6_000], [100_000]))('a run of %i events', async (count) => {
    const { store, database } = await stage();
    let run = await begun(store);
    while (run.seq < count) {
      const events = Array.from({ length: Math.min(5_000, count - run.seq) }, (_, n) => woke(n));
      const after = events.reduce(apply, run);
      await database.transaction(async (queries) => {
        await appendEvents(queries, PARTS, await lockRow(queries, ID), events, after);
      });
      run = after;
    }
    const found = await store.look(ID);
    expect(found).toMatchObject({ kind: 'stored', run: { seq: count } });
    // A snapshot spares most of the events.
    const [row] = await database.query<{ seq: number }>(
      'select snapshot_seq as seq from raymond.runs',
    );
    expect(row?.seq).toBeGreaterThan(count / 2);
    const watching = new AbortController();
    let expected = 0;
    for await (const { seq } of store.watch(ID, 0, watching.signal)) {
      expect(seq).toBe(++expected);
      if (seq === count) break;
    }
  });

  test('processes that decide at the same time store every event once, without a gap', async () => {
    const { store, database } = await stage();
    await begun(store);
    const workers = [0, 1, 2].map(async (worker) => {
      for (let n = 0; n < 20; n++)
        await database.transaction(async (queries) => {
          const row = await lockRow(queries, ID);
          const run = await runOf(queries, PARTS, ID, row);
          const event = woke(worker * 100 + n);
          await appendEvents(queries, PARTS, row, [event], apply(run, event));
        });
    });
    const watched: number[] = [];
    const watching = new AbortController();
    for await (const event of store.watch(ID, 1, watching.signal)) {
      watched.push(event.seq);
      if (event.seq === 61) break;
    }
    await Promise.all(workers);
    expect(watched).toEqual(Array.from({ length: 60 }, (_, n) => n + 2));
    const times = (await collected(store.events(ID, 1))).map(({ at }) => at);
    expect(new Set(times).size).toBe(60);
  });
});

describe('other versions', () => {
  test('events of an older version are upgraded: for readers, and for ever when the run continues', async () => {
    const { store, database } = await stage();
    await begun(store, woke(2));
    const lines = versionOne([started], [woke(2)])
      .trim()
      .split('\n');
    for (const [index, line] of lines.entries())
      await database.query('update raymond.events set event = $1 where seq = $2', [
        line,
        index + 1,
      ]);
    await database.query('update raymond.runs set version = 1');
    const found = await store.look(ID);
    expect(found).toMatchObject({ kind: 'stored', run: { settings: started.settings, seq: 2 } });
    const lease = await store.lease(ID);
    await lease.open();
    await lease.release();
    const rows = await database.query<{ event: string; version: number }>(
      'select event, version from raymond.events e, raymond.runs order by e.seq',
    );
    expect(rows.map(({ event }) => JSON.parse(event))).toEqual([started, woke(2)]);
    expect(rows[0]?.version).toBe(JOURNAL_VERSION);
  });

  test('events of a newer version are an error that says so', async () => {
    const { store, database } = await stage();
    await begun(store);
    await database.query('update raymond.runs set version = $1', [JOURNAL_VERSION + 1]);
    expect(await store.look(ID)).toMatchObject({ problem: { code: 'journal-newer' } });
    const lease = await store.lease(ID);
    await expect(lease.open()).rejects.toMatchObject({ code: 'journal-newer' });
    await lease.release();
  });

  test('a missing event is damage, and a salvage keeps what is before it', async () => {
    const { store, database } = await stage();
    await begun(store, woke(2), woke(3), woke(4));
    await database.query('delete from raymond.events where seq = 3');
    expect(await store.look(ID)).toMatchObject({ problem: { code: 'journal-corrupt' } });
    const lease = await store.lease(ID);
    expect(await lease.salvage()).toMatchObject({ seq: 2 });
    expect(await lease.salvage()).toBeUndefined();
    expect((await lease.open()).run.seq).toBe(2);
    await lease.release();
  });

  test('a new run with the id of a removed one is not the watched one', async () => {
    const { store } = await stage();
    await begun(store, woke(2));
    const over = new AbortController();
    const watching = store.watch(ID, 0, over.signal)[Symbol.asyncIterator]();
    await watching.next();
    await watching.next();
    const lease = await store.lease(ID);
    await lease.remove();
    await lease.create(
      [started, woke(3), woke(4)],
      [started, woke(3), woke(4)].reduce<Run>(apply, newRun),
    );
    await lease.release();
    await expect(watching.next()).rejects.toMatchObject({ code: 'no-run' });
    over.abort();
  });

  test('tables of a newer Raymond are an error that says so', async () => {
    const { database } = await stage();
    await database.query('insert into raymond.migrations (version) values (99)');
    await expect(migrate(database)).rejects.toMatchObject({ code: 'database-too-new' });
    await database.query('delete from raymond.migrations where version = 99');
  });
});

describe('seals', () => {
  const isOwn = async (store: RunStore) => {
    const found = await store.look(ID);
    return found.kind === 'stored' && found.isOwn;
  };

  test.each([
    ['a changed event', `update raymond.events set event = replace(event, '"at":2', '"at":3')`],
    ['an event without a seal', 'update raymond.events set seal = null where seq = 2'],
    [
      'events in another order',
      `update raymond.events a set event = b.event, seal = b.seal
         from raymond.events b where a.seq in (2, 3) and b.seq = 5 - a.seq`,
    ],
    ['another version', 'update raymond.runs set version = 1'],
    ['another remote', `update raymond.runs set remote = '/elsewhere'`],
    [
      'other files',
      `update raymond.runs set kept = replace(kept, '"trees":{}', '"trees":{"/":"x"}')`,
    ],
    ['a later era', 'update raymond.runs set era = era + 1'],
    [
      'an end that is too early',
      `with gone as (delete from raymond.events where seq = 3) update raymond.runs set seq = 2`,
    ],
    [
      'an end that is too early, with the seal of its event',
      `with gone as (delete from raymond.events where seq = 3)
       update raymond.runs set seq = 2, link = (select seal from raymond.events where seq = 2)`,
    ],
    [
      'the last event in place of an earlier one',
      `with gone as (delete from raymond.events where seq = 3 returning event, seal),
            last as (update raymond.runs set seq = 2)
       update raymond.events e set event = g.event, seal = g.seal from gone g where e.seq = 2`,
    ],
  ])('%s makes a run foreign', async (_, change) => {
    const { store, database } = await stage();
    await begun(store, woke(2), woke(3));
    expect(await isOwn(store)).toBe(true);
    await database.query(change);
    expect(await isOwn(store)).toBe(false);
    const lease = await store.lease(ID);
    expect(await lease.open()).toMatchObject({ isOwn: false });
    await lease.release();
  });

  test('a forged snapshot does not count', async () => {
    const { store, database } = await stage();
    const run = await begun(store, woke(2));
    const forged = runCodec.freeze({ ...run, cwd: '/elsewhere' });
    await database.query('update raymond.runs set snapshot = $1, snapshot_seq = $2', [
      JSON.stringify({ version: JOURNAL_VERSION, state: forged }),
      run.seq,
    ]);
    expect(await store.look(ID)).toMatchObject({ run: { cwd: run.cwd }, isOwn: true });
  });

  test('a user who accepts the run of another one seals all of it', async () => {
    const { store, database } = await stage();
    const other = await storeAt('two', database);
    await begun(store, woke(2));
    expect(await isOwn(other)).toBe(false);
    const lease = await other.lease(ID);
    const { run, isOwn: wasOwn } = await lease.open();
    expect(wasOwn).toBe(false);
    expect(await lease.seal(run)).toBeUndefined();
    await lease.release();
    expect(await isOwn(other)).toBe(true);
  });

  test('an upgrade of the events keeps their seals', async () => {
    const { store, database } = await stage();
    const run = await begun(store, woke(2));
    const key = userKey(realDisk, join(await temporaryFolder(), 'key'));
    await key.seal('', '');
    const rows = rowSeals(key);
    const row = await database.transaction((queries) => lockRow(queries, ID));
    const first = { ...row, version: 1 };
    let link: string | null = null;
    const lines = versionOne([started], [woke(2)])
      .trim()
      .split('\n');
    for (const [index, line] of lines.entries()) {
      link = await rows.make('event', linkFacts(ID, first, index + 1, link, line));
      await database.query('update raymond.events set event = $1, seal = $2 where seq = $3', [
        ...[line, link, index + 1],
      ]);
    }
    await database.query('update raymond.runs set version = 1, link = $1, head_seal = $2', [
      ...[link, await sealHead(rows, ID, { ...first, link })],
    ]);
    const parts = { codec: runCodec, rows };
    await database.transaction(async (queries) => {
      const upgraded = await lockRow(queries, ID, rows);
      await checkHead(rows, ID, upgraded);
      expect(upgraded.era).toBeGreaterThan(row.era);
      expect((await runOf(queries, parts, ID, upgraded)).seq).toBe(run.seq);
    });
  });
});

describe('old rows', () => {
  /** What somebody has copied from the database, to put it back later. */
  const copyOf = async (database: Database) => {
    const tables = ['runs', 'events'];
    const rows = await Promise.all(
      tables.map((table) => database.query(`select t::text as row from raymond.${table} t`)),
    );
    return async () => {
      await database.query('delete from raymond.runs');
      for (const [index, table] of tables.entries())
        for (const { row } of rows[index] as readonly { row: string }[])
          await database.query(
            `insert into raymond.${table} overriding system value
             select (($1::text)::raymond.${table}).*`,
            [row],
          );
    };
  };
  const appended = async (store: RunStore, ...events: readonly RunEvent[]) => {
    const lease = await store.lease(ID);
    const { run, isOwn, journal } = await lease.open();
    const after = events.reduce(apply, run);
    await journal.append(events, after);
    await lease.release();
    return { isOwn, after };
  };
  const isOwn = async (store: RunStore) => {
    const found = await store.look(ID);
    return found.kind === 'stored' && found.isOwn;
  };
  const sharing = async (database: Database) => {
    const key = userKey(realDisk, join(await temporaryFolder(), 'key'));
    return [
      await storeAt('one', database, { key }),
      await storeAt('two', database, { key }),
    ] as const;
  };

  test('a machine that has seen more notices that a run was set back, until a person accepts it', async () => {
    const { database } = await stage();
    const [here, elsewhere] = await sharing(database);
    await begun(here, woke(2));
    const putBack = await copyOf(database);
    await appended(here, woke(3), woke(4));
    const putLastBack = await copyOf(database);
    await putBack();
    expect(await isOwn(here)).toBe(false);
    // Another machine has never seen the later events.
    expect(await isOwn(elsewhere)).toBe(true);
    await putLastBack();
    expect(await isOwn(here)).toBe(true);
    expect(await isOwn(elsewhere)).toBe(true);
    await putBack();
    expect(await isOwn(elsewhere)).toBe(false);

    const lease = await here.lease(ID);
    const { run, isOwn: wasOwn } = await lease.open();
    expect(wasOwn).toBe(false);
    expect(await lease.seal(run)).toBeUndefined();
    await lease.release();
    expect([await isOwn(here), await isOwn(elsewhere)]).toEqual([true, true]);
    // What was seen before is over now.
    await putLastBack();
    expect([await isOwn(here), await isOwn(elsewhere)]).toEqual([false, false]);
  });

  test('two continuations of the same state are not the same run', async () => {
    const { database } = await stage();
    const [here, elsewhere] = await sharing(database);
    await begun(here, woke(2));
    const putBack = await copyOf(database);
    await appended(here, woke(3));
    await putBack();
    expect(await appended(elsewhere, woke(4), woke(5))).toMatchObject({ isOwn: true });
    expect(await isOwn(here)).toBe(false);
  });

  test('a run that continues while it is read was not set back', async () => {
    const { database } = await stage();
    const key = userKey(realDisk, join(await temporaryFolder(), 'key'));
    const heads = headsIn(realDisk, await temporaryFolder(), () => {});
    const other = await storeAt('one', database, { key, heads });
    await begun(other, woke(2));
    let hasContinued = false;
    const slow: Heads = {
      ...heads,
      async newest(born) {
        // After the row was read.
        if (!hasContinued) {
          hasContinued = true;
          await appended(other, woke(3));
        }
        return heads.newest(born);
      },
    };
    const here = await storeAt('one', database, { key, heads: slow });
    expect(await here.look(ID)).toMatchObject({ isOwn: true, run: { seq: 3 } });
  });

  test('a run that was removed does not come back', async () => {
    const { database } = await stage();
    const [here] = await sharing(database);
    await begun(here, woke(2));
    const putBack = await copyOf(database);
    const lease = await here.lease(ID);
    await lease.remove();
    await lease.release();
    await putBack();
    expect(await isOwn(here)).toBe(false);
    // A new run with its id is another one.
    const again = await here.lease(ID);
    await again.remove();
    await again.release();
    await begun(here, woke(2));
    expect(await isOwn(here)).toBe(true);
  });

  test('nothing that follows from a run of a stranger is sealed before a person accepts it', async () => {
    const { database } = await stage();
    const [here] = await sharing(database);
    await begun(here, woke(2));
    await database.query('update raymond.events set seal = null where seq = 2');
    expect(await appended(here, woke(3))).toMatchObject({ isOwn: false });
    await expect
      .poll(() => database.query('select link, head_seal from raymond.runs'))
      .toEqual([{ link: null, head_seal: null }]);
  });
});

describe('mail', () => {
  const answer = { kind: 'answer', agent: 'main', askedAt: 1, text: 'Yes.' } as const;
  const put = (database: Database, message: string, question: string | null = null) =>
    database.query('insert into raymond.mail (run, question, message) values ($1, $2, $3)', [
      ...[ID, question, message],
    ]);

  test('only a command of the user posts, and a forged row blocks no answer', async () => {
    const { store, database } = await stage();
    const other = await storeAt('two', database);
    await begun(store, woke(2));
    await put(database, JSON.stringify(answer));
    await other.mailbox(ID).post({ kind: 'stop', how: 'now', pid: 0 });
    expect(await store.mailbox(ID).messages()).toEqual([]);
    expect(await store.mailbox(ID).post(answer)).toBe(true);
    expect(await store.mailbox(ID).messages()).toEqual([answer]);
    const [row] = await database.query<{ question: string; message: string }>(
      'select question, message from raymond.mail where question is not null',
    );
    await database.query('delete from raymond.mail');
    await put(database, JSON.stringify({ ...answer, text: 'No.' }), row?.question);
    expect(await store.mailbox(ID).post(answer)).toBe(true);
    expect(await store.mailbox(ID).post(answer)).toBe(false);

    const told: string[] = [];
    const read: unknown[] = [];
    await put(database, 'x');
    await put(database, 'y');
    const reading = await store.mailbox(ID).read({
      onMessage: (message) => void read.push(message),
      onTrouble: (text) => void told.push(text),
    });
    reading.close();
    expect(read).toEqual([answer]);
    expect(told).toEqual([expect.stringContaining('none of your commands wrote')]);
    expect(await database.query('select from raymond.mail where refused')).toHaveLength(3);
  });

  test('a message to a removed run is none to a later one with its id', async () => {
    const { store, database } = await stage();
    await begun(store, woke(2));
    await store.mailbox(ID).post(answer);
    const [row] = await database.query<{ message: string }>('select message from raymond.mail');
    const lease = await store.lease(ID);
    await lease.remove();
    await lease.release();
    await begun(store, woke(2));
    await put(database, row?.message ?? '');
    expect(await store.mailbox(ID).messages()).toEqual([]);
  });
});

test('a role without the right to create needs the tables of another one', async () => {
  const url = await newDatabase();
  const role = `limited_${process.pid}`;
  const { pathname } = new URL(url);
  await administer(
    url,
    `create role ${role} login password 'limited'`,
    `revoke create on database ${pathname.slice(1)} from public`,
  );
  const limited = new URL(url);
  limited.username = role;
  limited.password = 'limited';
  await expect(migrate(open(limited.href))).rejects.toMatchObject({ code: 'database-rights' });
  await migrate(open(url));
  await expect(migrate(open(limited.href))).rejects.toMatchObject({ code: 'database-rights' });
  await administer(
    url,
    `grant usage on schema raymond to ${role}`,
    `grant select, insert, update, delete on all tables in schema raymond to ${role}`,
  );
  const database = open(limited.href);
  await migrate(database);
  const store = await storeAt('one', database);
  await begun(store, woke(2));
  expect(await store.list()).toEqual([ID]);
  await store.mailbox(ID).post({ kind: 'stop', how: 'now', pid: 0 });
  await administer(url, `drop owned by ${role}`, `drop role ${role}`);
});
