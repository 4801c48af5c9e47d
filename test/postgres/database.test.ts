import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/postgres/migrations.ts';
import { eventually } from '../eventually.ts';
import { patiently } from '../patiently.ts';
import { newDatabase } from './new-database.ts';
import { startProxy } from './proxy.ts';
import { PASSWORD, startServer } from './server.ts';
import { open } from './stores.ts';

test('several processes can create the tables at the same time', async () => {
  const url = await newDatabase();
  await Promise.all(Array.from({ length: 5 }, () => migrate(open(url))));
  const rows = await open(url).query<{ version: number }>(
    'select version from raymond.migrations order by version',
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(rows).toEqual(rows.map((_, index) => ({ version: index + 1 })));
});

test('a restart of the server ends no statement and no transaction, and nothing happens twice', async () => {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const database = open(server.url());
  await migrate(database);
  await database.query('create table counted (n integer)');
  let isOver = false;
  const work = Array.from({ length: 3 }, async (_, worker) => {
    let done = 0;
    for (; !isOver; done++) {
      const value = worker * 1_000_000 + done;
      await database.transaction(async ({ query }) => {
        await query('insert into counted values ($1)', [value]);
      });
    }
    return done;
  });
  const count = async () => {
    const [row] = await database.query<{ n: number }>('select count(*)::int n from counted');
    return row?.n ?? 0;
  };
  for (const how of ['immediate', 'fast', 'immediate'] as const) {
    const before = await count();
    await patiently(async () => expect(await count()).toBeGreaterThan(before + 20));
    await server.stop(how);
    await server.start();
  }
  isOver = true;
  const done = (await Promise.all(work)).reduce((sum, n) => sum + n, 0);
  expect(await count()).toBe(done);
  const [row] = await database.query<{ n: number }>('select count(distinct n)::int n from counted');
  expect(row?.n).toBe(done);
});

test('a transaction whose connection breaks before the server has come to its end happens once', async () => {
  const url = await newDatabase();
  const network = await startProxy(url);
  onTestFinished(() => network.close());
  const [database, direct] = [open(network.url), open(url)];
  await migrate(direct);
  await direct.query('create table counted (n integer)');
  await direct.query('create table gate (id integer primary key)');
  await direct.query('insert into gate values (1)');
  const waiting = `select count(*)::int n from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%from gate%'`;
  const count = async () => (await direct.query<{ n: number }>(waiting))[0]?.n;
  let attempts = 0;
  let done = Promise.resolve();
  await direct.transaction(async ({ query }) => {
    await query('select from gate for update');
    done = database.transaction(async ({ write }) => {
      attempts++;
      write('select from gate where id = 1 for update');
      write('insert into counted values (1)');
    });
    await patiently(async () => expect(await count()).toBe(1));
    network.cut();
    // The second attempt waits for the same lock.
    await patiently(async () => expect(await count()).toBe(2));
  });
  await done;
  await patiently(async () => expect(await count()).toBe(0));
  expect(attempts).toBe(2);
  expect(await direct.query('select n from counted')).toEqual([{ n: 1 }]);
});

test('exhausted connections end nothing', async () => {
  const server = await startServer({ maxConnections: 10 });
  onTestFinished(() => server.dispose());
  const hogs: pg.Client[] = [];
  for (let n = 0; n < 10; n++) {
    const hog = new pg.Client({ connectionString: server.url() });
    hog.on('error', () => {});
    await hog.connect();
    hogs.push(hog);
  }
  const asked = open(server.url()).query('select 1 as one');
  let isSettled = false;
  void asked.finally(() => {
    isSettled = true;
  });
  const another = new pg.Client({ connectionString: server.url() });
  await expect(another.connect()).rejects.toMatchObject({ code: '53300' });
  expect(isSettled).toBe(false);
  await Promise.all(hogs.map((hog) => hog.end()));
  expect(await asked).toEqual([{ one: 1 }]);
});

test.each([
  ['had reached', true],
  ['had not reached', false],
])(
  'a connection that broke when the commit %s the server repeats nothing',
  async (_, hasReached) => {
    const database = open(await newDatabase());
    await migrate(database);
    await database.query('create table counted (n integer)');
    const real = pg.Client.prototype.query;
    let commits = 0;
    const broken = async function (this: pg.Client, ...args: Parameters<typeof real>) {
      const isFirst = String(args[0]) === 'commit' && commits++ === 0;
      const result = isFirst && !hasReached ? undefined : await real.apply(this, args);
      if (isFirst) throw new Error('Connection terminated');
      return result;
    };
    pg.Client.prototype.query = broken as typeof real;
    let calls = 0;
    try {
      await database.transaction(async ({ query }) => {
        calls++;
        await query('insert into counted values (1)');
      });
    } finally {
      pg.Client.prototype.query = real;
    }
    expect(commits).toBeGreaterThan(0);
    expect(calls).toBe(hasReached ? 1 : 2);
    expect(await database.query('select n from counted')).toEqual([{ n: 1 }]);
  },
);

test.each([
  ['nothing at this port', 'postgres://user:PASSWORD@127.0.0.1:1/runs', 'database-unreachable'],
  [
    'a host that does not exist',
    'postgres://user:PASSWORD@host.invalid/runs',
    'database-unreachable',
  ],
  ['a URL of another kind', 'mysql://user:PASSWORD@127.0.0.1/runs', 'bad-database'],
  ['a text', 'PASSWORD', 'bad-database'],
  ['a broken URL', 'postgres://user:PASSWORD@[::', 'bad-database'],
  [
    'a certificate that is missing',
    'postgres://user:PASSWORD@127.0.0.1/runs?sslrootcert=/no/PASSWORD',
    'bad-database',
  ],
])('%s is an error without secrets', async (_, text, code) => {
  const error = await (async () => {
    await open(text.replaceAll('PASSWORD', PASSWORD)).query('select 1');
  })().catch((caught) => caught);
  expect(error).toMatchObject({ name: 'UserError', code });
  expect(JSON.stringify([error.message, error.remedy, error.stack])).not.toContain(PASSWORD);
});

test('a wrong password and a missing database are errors without secrets', async () => {
  const url = new URL(await newDatabase());
  url.pathname = '/absent';
  await expect(open(url.href).query('select 1')).rejects.toMatchObject({ code: 'no-database' });
  url.password = 'wrong-secret';
  const error = await open(url.href)
    .query('select 1')
    .catch((caught) => caught);
  expect(error).toMatchObject({ name: 'UserError', code: 'database-refused' });
  expect(`${error.message} ${error.remedy}`).not.toContain('secret');
});

test('a connection that alone hangs is given up, and one that is only slow is not', async () => {
  const url = await newDatabase();
  const network = await startProxy(url);
  const [database, hanging] = [open(url), open(network.url)];
  onTestFinished(() => network.close());
  await migrate(database);
  const doubtUntil = async <T>(answer: Promise<T>): Promise<T> => {
    let isOver = false;
    void answer.finally(() => {
      isOver = true;
    });
    await eventually('there is an answer', async () => {
      await hanging.doubtIdle(database, 200);
      return isOver;
    });
    return answer;
  };
  let attempts = 0;
  const changed = hanging.transaction(async ({ query }) => {
    await query('select 1');
    if (++attempts === 1) network.swallow();
    return query<{ answer: number }>('select 42 as answer');
  });
  expect(await doubtUntil(changed)).toEqual([{ answer: 42 }]);
  expect(attempts).toBe(2);

  const slow = hanging.transaction(async ({ query }) => {
    attempts++;
    await query('select pg_sleep(1)');
  });
  await doubtUntil(slow);
  expect(attempts).toBe(3);

  await hanging.query('select 1');
  network.swallow();
  expect(await doubtUntil(hanging.query('select 43 as answer'))).toEqual([{ answer: 43 }]);
});

test('many statements that wait for the server are one report', async () => {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const reports: string[] = [];
  const database = open(server.url(), { report: (text) => void reports.push(text) });
  await database.query('select 1');
  await server.stop('fast');
  const waiting = Array.from({ length: 5 }, () => database.query('select 1'));
  await eventually('it is reported', () => reports.length > 0);
  await server.start();
  await Promise.all(waiting);
  expect(reports).toEqual([
    expect.stringMatching(/ does not answer .* Raymond keeps trying\.$/),
    expect.stringMatching(/ answers again\.$/),
  ]);
});
