/**
 * The tables of Raymond, in the schema `raymond`. A released migration never changes; a later one is
 * added. Texts of others are in columns of type text, as JSON: jsonb has no NUL character.
 */
import { UserError } from '../model/user-error.ts';
import { nameOf } from './address.ts';
import type { Database, Queries } from './database.ts';
import { codeOf } from './trouble.ts';

/** Creates the tables, or upgrades them. Processes that do this at the same time wait. */
export async function migrate(database: Database): Promise<void> {
  // Usually one round trip. Without tables, it fails.
  const found = await versionIn(database).catch((error) => {
    if (NO_TABLE.has(codeOf(error) ?? '')) return 0;
    throw error;
  });
  if (found === MIGRATIONS.length) return;
  if (found > MIGRATIONS.length) throw tooNew(database);
  try {
    await database.repeatable(async (queries) => {
      await queries.query('select pg_advisory_xact_lock($1)', [LOCK]);
      const version = await versionOf(queries);
      if (version > MIGRATIONS.length) throw tooNew(database);
      for (const [index, statements] of MIGRATIONS.entries()) {
        if (index >= version) await apply(queries, index + 1, statements);
      }
    });
  } catch (error) {
    if (codeOf(error) === '42501' || isRightsError(error)) throw cannotMigrate(database, found);
    throw error;
  }
}

/** Any number that other programs are unlikely to use. */
const LOCK = 7_296_663_601;

async function apply(queries: Queries, version: number, statements: string): Promise<void> {
  for (const statement of statements.split(';\n'))
    if (statement.trim()) await queries.query(statement);
  await queries.query('insert into raymond.migrations (version) values ($1)', [version]);
}

/** 0 if there are no tables. */
async function versionOf(queries: Queries): Promise<number> {
  // `to_regclass` does not see what another transaction committed while this one waited for the lock.
  const tables = await queries.query(
    "select 1 from pg_tables where schemaname = 'raymond' and tablename = 'migrations'",
  );
  return tables.length === 0 ? 0 : versionIn(queries);
}

const NO_TABLE: ReadonlySet<string> = new Set(['3F000', '42P01']);

async function versionIn({ query }: Queries): Promise<number> {
  const [row] = await query<{ version: number | null }>(
    'select max(version) version from raymond.migrations',
  );
  return row?.version ?? 0;
}

const MIGRATIONS: readonly string[] = [
  `
create schema if not exists raymond;

create table raymond.migrations (
  version integer primary key,
  applied_at timestamptz not null default now()
);

-- The last transaction of each connection, for the case that the answer to a commit is lost.
create table raymond.commits (
  writer uuid primary key,
  number bigint not null,
  at timestamptz not null default now()
) with (fillfactor = 50);

-- seq is the number of events. born distinguishes runs that had the same id one after the other.
-- summary is for lists. chosen is what a seal covers. snapshot is the run after snapshot_seq events;
-- unfolded is the size of the events after it.
create table raymond.runs (
  id text primary key,
  born uuid not null default gen_random_uuid(),
  seq integer not null,
  version integer not null,
  status text not null,
  summary text not null,
  chosen text not null,
  seals text[] not null default '{}',
  snapshot text,
  snapshot_seq integer not null default 0,
  unfolded bigint not null default 0,
  remote text,
  created_at timestamptz not null default now()
) with (fillfactor = 50);

create index runs_by_status on raymond.runs (status);

create table raymond.events (
  run text not null references raymond.runs on delete cascade,
  seq integer not null,
  event text not null,
  primary key (run, seq)
);

-- Not part of runs, because a lease can exist before its run.
create table raymond.leases (
  run text primary key,
  token uuid not null,
  owner text not null,
  until timestamptz not null
);

-- The publisher is the token of a lease, or a worker. It is lost with a crash of the server.
create unlogged table raymond.publications (
  run text not null,
  publisher uuid not null,
  content text not null,
  published_at timestamptz not null default now(),
  primary key (run, publisher)
);

-- question identifies what a message answers, so that a second answer is refused.
create table raymond.mail (
  id bigint generated always as identity primary key,
  run text not null references raymond.runs on delete cascade,
  question text,
  message text not null,
  posted_at timestamptz not null default now(),
  unique (run, question)
);

create table raymond.records (
  run text not null references raymond.runs on delete cascade,
  agent text not null,
  step integer not null,
  name text not null,
  content bytea not null,
  primary key (run, agent, step, name)
);

create table raymond.caches (
  name text primary key,
  content text not null,
  seal text not null
);

-- The newest transcript of each session.
create table raymond.sessions (
  run text not null references raymond.runs on delete cascade,
  session text not null,
  agent text not null,
  step integer not null,
  executor text not null,
  sha256 text not null,
  content bytea not null,
  primary key (run, session)
);

-- The newest files of each working tree of a run that names a remote.
create table raymond.trees (
  run text not null references raymond.runs on delete cascade,
  root text not null,
  snapshot text not null,
  primary key (run, root)
);

create table raymond.sources (
  run text not null references raymond.runs on delete cascade,
  ref text not null,
  archive bytea not null,
  primary key (run, ref)
);

create table raymond.workers (
  id uuid primary key,
  name text not null,
  host text not null,
  pid integer not null,
  place text not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  lease_until timestamptz not null,
  limits text not null default '{}'
);

-- A row for each running step. worker is null while the step waits in a queue. claim grows with each
-- worker that takes the step; place is the only folder where it can have begun. enqueued grows with each
-- time that the step is put into a queue.
create table raymond.claims (
  run text not null references raymond.runs on delete cascade,
  agent text not null,
  step integer not null,
  kind text not null,
  worker uuid,
  place text,
  claim integer not null default 0,
  enqueued integer not null default 0,
  since timestamptz not null default now(),
  primary key (run, agent, step)
);

create index claims_by_worker on raymond.claims (worker);

-- The working tree in which a step works, while its claim exists.
create table raymond.holds (
  run text not null,
  agent text not null,
  step integer not null,
  root text not null,
  primary key (run, agent, step),
  foreign key (run, agent, step) references raymond.claims on delete cascade
);

create index holds_by_root on raymond.holds (run, root);

-- When a run has to be looked at, because time has passed.
create table raymond.wakeups (
  run text primary key references raymond.runs on delete cascade,
  at timestamptz not null
);

create index wakeups_by_time on raymond.wakeups (at);
`,
  `
-- Seals of the user for each row on which a worker acts; see seals.ts.
alter table raymond.events add column seal text;
alter table raymond.runs add column snapshot_seal text;
alter table raymond.sources add column seal text;
alter table raymond.sessions add column seal text;
alter table raymond.trees add column seal text;
`,
  `
-- The runs that a worker does not execute; see refusals.ts.
create table raymond.refusals (
  run text not null references raymond.runs on delete cascade,
  worker uuid not null references raymond.workers on delete cascade,
  reasons text not null,
  until timestamptz not null,
  primary key (run, worker)
);

create index refusals_by_worker on raymond.refusals (worker);
`,
  `
-- A worker notes it with the files that it keeps, because it may serve several databases.
create table raymond.identity (id uuid primary key default gen_random_uuid());
insert into raymond.identity default values;
`,
  `
-- The chain of the events, and its head; see head.ts. A run of an older version has none, so a person has
-- to accept it.
alter table raymond.runs add column era bigint not null default 0;
alter table raymond.runs add column link text;
alter table raymond.runs add column head_seal text;
alter table raymond.runs add column kept text not null default '{"trees":{},"sources":{},"stop":0}';
update raymond.runs r set kept = json_build_object('trees', t.trees, 'sources', json_build_object(), 'stop', 0)
  from (select run, json_object_agg(root, snapshot) as trees from raymond.trees group by run) t
  where t.run = r.id;
update raymond.events set seal = null;
alter table raymond.runs drop column chosen;
alter table raymond.runs drop column seals;
alter table raymond.trees drop column snapshot;
alter table raymond.trees drop column seal;
alter table raymond.sources drop column seal;
alter table raymond.sessions add column seq integer not null default 0;
alter table raymond.sessions add column link text;
-- refused: it had no seal of the user. It stays for whoever wants to look at it.
alter table raymond.mail add column refused boolean not null default false;
`,
  `
-- The claims are the queue: a step without a worker waits in it. When a worker goes, its steps wait again.
update raymond.claims c set worker = null
  where not exists (select from raymond.workers w where w.id = c.worker);
alter table raymond.claims add foreign key (worker) references raymond.workers on delete set null;
alter table raymond.claims drop column enqueued;
create index claims_waiting on raymond.claims (kind, since) where worker is null;
`,
  `
-- What a worker says about its way to the database, with each heartbeat; see heartbeat.ts.
alter table raymond.workers add column lease_ms integer not null default 60000;
alter table raymond.workers add column latency_ms real;
alter table raymond.workers add column steps bigint not null default 0;
alter table raymond.workers add column round_trips bigint not null default 0;
`,
  `
-- The ledger of occasions; see occasions.ts. An occasion is open until its outcome is final.
create table raymond.occasions (
  id text primary key,
  project text not null,
  trigger text not null,
  seq bigint generated always as identity,
  record text not null,
  payload text,
  is_open boolean not null
);
create index occasions_of_trigger on raymond.occasions (trigger, seq);
create index occasions_of_project on raymond.occasions (project, seq);
create index occasions_open on raymond.occasions (trigger, seq) where is_open;
-- When each trigger was kept for the first time.
create table raymond.triggers (
  trigger text primary key,
  since bigint not null
);
-- The directories whose triggers workers keep.
create table raymond.triggered (
  directory text primary key
);
`,
  `
-- The files of questions and answers. The events, which are sealed, have their hashes.
create table raymond.files (
  run text not null references raymond.runs on delete cascade,
  sha256 text not null,
  content bytea not null,
  primary key (run, sha256)
);
`,
];

function isRightsError(error: unknown): boolean {
  return error instanceof UserError && error.code === 'database-rights';
}

function cannotMigrate({ address }: Database, found: number): UserError {
  const tables = found === 0 ? 'create its tables' : 'upgrade its tables';
  return new UserError(
    'database-rights',
    `Raymond may not ${tables} in ${nameOf(address)}.`,
    'Let the owner of the database run any command with --database once, or grant the right to create: grant create on database … to …',
  );
}

function tooNew({ address }: Database): UserError {
  return new UserError(
    'database-too-new',
    `A newer Raymond has changed the tables in ${nameOf(address)}.`,
    'Update Raymond on this machine.',
  );
}
