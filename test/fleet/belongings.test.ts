import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { carriedRoots, carriedSessions, storedSources } from '../../src/fleet/belongings.ts';
import type { KeepWithStep, Store } from '../../src/fleet/ports.ts';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { RunEvent } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { NO_COST } from '../../src/model/step-account.ts';
import type { StepKey } from '../../src/ports.ts';
import type { Database } from '../../src/postgres/database.ts';
import { appendEvents, insertRun, lockRow } from '../../src/postgres/run-row.ts';
import { type RowSeals, rowSeals } from '../../src/postgres/seals.ts';
import { keepArchive } from '../../src/postgres/workflow-archives.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { eventually } from '../eventually.ts';
import { started, temporaryFolder } from '../journal/fixtures.ts';
import { open, sharedDatabase } from '../postgres/stores.ts';

const newUrl = sharedDatabase();
const STARTED = { ...started, run: 'work-12345678' };
const RUN = STARTED.run;
const ROOT = '/home/me/project';

let database: Database;
let rows: RowSeals;
let run: Run;
let kept: Store[];
const keep: KeepWithStep = (_, store) => void kept.push(store);
beforeEach(async () => {
  database = open(await newUrl());
  kept = [];
  const key = userKey(realDisk, join(await temporaryFolder(), 'key'));
  await key.seal('', '');
  rows = rowSeals(key);
  run = [STARTED].reduce<Run>(apply, newRun);
  const belongings = {
    trees: [{ root: ROOT, snapshot: 'first' }],
    sources: [{ ref: '/flow', archive: Buffer.from('archive') }],
  };
  await database.transaction((queries) => insertRun(queries, { rows }, [STARTED], run, belongings));
});

test('a session is stored with the end of its step, and only its newest content', async () => {
  const sessions = carriedSessions({ database, run: RUN, keep, rows });
  expect(await sessions.newest('s')).toBeUndefined();
  const packed = { session: 's', executor: 'claude', sha256: 'a', content: Buffer.from('\0one') };
  sessions.keep({ agent: 'main', step: 1 }, packed);
  expect(await sessions.newest('s')).toBeUndefined();
  await endStep();
  sessions.keep(
    { agent: 'main', step: 2 },
    { ...packed, sha256: 'b', content: Buffer.from('two') },
  );
  await endStep();
  const newest = await sessions.newest('s');
  expect(newest).toMatchObject({ executor: 'claude', sha256: 'b' });
  expect(String(await newest?.content())).toBe('two');
  // A lost transaction stores nothing.
  sessions.keep({ agent: 'main', step: 3 }, { ...packed, sha256: 'c' });
  kept = [];
  await endStep();
  expect(await sessions.newest('s')).toMatchObject({ sha256: 'b' });
});

test('a working tree belongs to the steps of one worker, until their claims end', async () => {
  const roots = carriedRoots({ database, run: RUN, keep, rows });
  const [one, two, three] = [step(1), step(2), step(3)];
  const [left, right] = [randomUUID(), randomUUID()];
  await claim(one, left);
  await claim(two, left);
  await claim(three, right);
  expect(await roots.hold(one, ROOT)).toEqual({ snapshot: 'first', holders: [] });
  expect(await roots.hold(one, ROOT)).toMatchObject({ snapshot: 'first', holders: [one] });
  expect(await roots.hold(two, ROOT)).toMatchObject({ snapshot: 'first', holders: [one] });
  expect(await roots.hold(three, ROOT)).toBeUndefined();
  let newest = 'second';
  roots.keep(one, ROOT, () => newest);
  newest = 'newest';
  await endStep(one);
  expect(await roots.hold(three, ROOT)).toBeUndefined();
  // The other worker dies: its step waits in a queue again.
  await database.query('update raymond.claims set worker = null where step = 2');
  expect(await roots.hold(three, ROOT)).toEqual({ snapshot: 'newest', holders: [] });
  // The worker that takes the step then has to wait in turn.
  await claim(two, left);
  expect(await roots.hold(two, ROOT)).toBeUndefined();
  await endStep(three);
  expect(await roots.hold(two, ROOT)).toMatchObject({ snapshot: 'newest' });
  await expect(roots.hold(two, '/elsewhere')).rejects.toThrow('No files of /elsewhere');
});

test('workers that want a working tree at the same moment get it one after the other', async () => {
  const roots = carriedRoots({ database, run: RUN, keep: () => {}, rows });
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 8 }, async (_, number) => {
      await claim(step(number), randomUUID());
      const isHeld = async () => (await roots.hold(step(number), ROOT)) !== undefined;
      await eventually('the tree is free', isHeld);
      inside += 1;
      most = Math.max(most, inside);
      await database.query('select pg_sleep(0.01)');
      inside -= 1;
      await endStep(step(number));
    }),
  );
  await eventually('all have had it', () => inside === 0);
  expect(most).toBe(1);
});

test('the files of workflows are found by what contains them', async () => {
  const sources = storedSources(database, RUN, () => undefined, '/tmp/x', rows);
  expect(String(await sources.archive('/flow'))).toBe('archive');
  expect(await sources.archive('/other')).toBeUndefined();
  await database.transaction((queries) =>
    keepArchive(queries, rows, RUN, '/other', Buffer.from('another')),
  );
  expect(String(await sources.archive('/flow'))).toBe('archive');
  expect(String(await sources.archive('/other'))).toBe('another');
});

test('nothing counts that another user of the database has written', async () => {
  const sessions = carriedSessions({ database, run: RUN, keep, rows });
  sessions.keep(step(1), {
    session: 's',
    executor: 'claude',
    sha256: 'a',
    content: Buffer.from('x'),
  });
  await endStep();
  await sessions.newest('s');
  await database.query("update raymond.sessions set content = 'forged', sha256 = 'b'");
  await expect(sessions.newest('s')).rejects.toThrow('No key on this machine has sealed');

  await database.query("update raymond.sources set archive = 'forged'");
  const sources = storedSources(database, RUN, () => undefined, '/tmp/x', rows);
  await expect(sources.archive('/flow')).rejects.toThrow('sealed the stored files of /flow');

  await claim(step(1), randomUUID());
  await database.query("update raymond.runs set kept = replace(kept, 'first', 'another')");
  const roots = carriedRoots({ database, run: RUN, keep, rows });
  await expect(roots.hold(step(1), ROOT)).rejects.toThrow('sealed the state of');
  await expect(sources.archive('/flow')).rejects.toThrow('sealed the state of');
});

test('older files, workflows and sessions with their seals do not count either', async () => {
  const { query } = database;
  const sessions = carriedSessions({ database, run: RUN, keep, rows });
  const roots = carriedRoots({ database, run: RUN, keep, rows });
  const sources = storedSources(database, RUN, () => undefined, '/tmp/x', rows);
  const packed = { session: 's', executor: 'claude', sha256: 'a', content: Buffer.from('one') };
  await append(endOf(1, 's'));
  sessions.keep(step(1), packed);
  await endStep();
  await query('create table public.older_sessions as table raymond.sessions');
  await query('create table public.older_sources as table raymond.sources');
  await query('create table public.older_kept as select id, kept from raymond.runs');
  onTestFinished(async () => {
    for (const table of ['sessions', 'sources', 'kept'])
      await query(`drop table public.older_${table}`);
  });
  // Events of other sessions do not make it older.
  await append(endOf(2, 'another'));
  expect(await sessions.newest('s')).toMatchObject({ sha256: 'a' });

  await append(endOf(3, 's'));
  sessions.keep(step(3), { ...packed, sha256: 'b', content: Buffer.from('two') });
  roots.keep(step(3), ROOT, () => 'second');
  await endStep();
  await database.transaction((queries) =>
    keepArchive(queries, rows, RUN, '/flow', Buffer.from('newer')),
  );
  expect(await sessions.newest('s')).toMatchObject({ sha256: 'b' });
  await query('delete from raymond.sessions');
  await query('insert into raymond.sessions table public.older_sessions');
  await expect(sessions.newest('s')).rejects.toThrow('sealed the stored session s');
  await query('delete from raymond.sources');
  await query('insert into raymond.sources table public.older_sources');
  await expect(sources.archive('/flow')).rejects.toThrow('sealed the stored files of /flow');
  await claim(step(4), randomUUID());
  await query('update raymond.runs r set kept = o.kept from public.older_kept o where o.id = r.id');
  await expect(roots.hold(step(4), ROOT)).rejects.toThrow('sealed the state of');
});

const endOf = (number: number, session: string): RunEvent => ({
  ...{ type: 'step-interrupted', at: number, agent: 'main', step: number, repeat: 'continue' },
  ...{ cost: NO_COST, session: { id: session } },
});

async function append(event: RunEvent) {
  const after = { ...run, seq: run.seq + 1 };
  await database.transaction(async (queries) => {
    const row = await lockRow(queries, RUN, rows);
    await appendEvents(queries, { codec: runCodec, rows }, row, [event], after);
  });
  run = after;
}

const step = (number: number): StepKey => ({ agent: 'main', step: number });

async function claim({ agent, step: number }: StepKey, worker: string) {
  await database.query(
    `insert into raymond.workers (id, name, host, pid, place, lease_until)
     values ($1, 'w', 'h', 1, 'p', now()) on conflict (id) do nothing`,
    [worker],
  );
  await database.query(
    `insert into raymond.claims (run, agent, step, kind, worker, place, claim)
     values ($1, $2, $3, 'prompt', $4, 'p', 1)
     on conflict (run, agent, step) do update set worker = excluded.worker`,
    [RUN, agent, number, worker],
  );
}

/** Stores the end of a step, as one transaction. */
async function endStep(ended?: StepKey) {
  const stores = kept.splice(0);
  await database.transaction(async (queries) => {
    for (const store of stores) await store(queries);
    if (ended)
      await queries.query('delete from raymond.claims where run = $1 and step = $2', [
        ...[RUN, ended.step],
      ]);
  });
}
