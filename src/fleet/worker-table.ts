/** The workers. A worker without a row is dead: no other worker waits for it, and it changes nothing any more. */
import type { Now } from '../model/now.ts';
import { CHANNEL } from '../postgres/announcer.ts';
import type { Database, Queries } from '../postgres/database.ts';
import { monotonicMs } from './monotonic.ts';
import type { WorkerFacts } from './ports.ts';

export interface Registration {
  /** The runs of which the worker got steps. */
  readonly left: readonly string[];
  /** When the lease began at the latest, in `monotonicMs`. */
  readonly sentAt: number;
}

/**
 * Adds a worker. It replaces an earlier one in the same folder, whose process is gone. It gets the steps
 * that this one had or has begun, unless another worker has them.
 */
export async function register(
  database: Database,
  id: string,
  { name, host, pid, place, limits }: WorkerFacts,
  leaseMs: number,
): Promise<Registration> {
  const { given, sentAt } = await database.transaction(async ({ write }) => {
    const sentAt = monotonicMs();
    // This waits for the last turn of the earlier worker, so the next statements see its steps.
    write('select from raymond.workers where place = $1 for update', [place]);
    write(
      `insert into raymond.workers (id, name, host, pid, place, limits, lease_ms, lease_until)
       values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $7::int * interval '1 millisecond')`,
      [id, name, host, pid, place, JSON.stringify(limits), leaseMs],
    );
    const given = write<{ run: string }>(
      `update raymond.claims set worker = $1
        where worker in (select id from raymond.workers where place = $2 and id <> $1)
           or (place = $2 and worker is null) returning run`,
      [id, place],
    );
    write('delete from raymond.workers where place = $1 and id <> $2', [place, id]);
    return { given, sentAt };
  });
  return { left: [...new Set((await given).map(({ run }) => run))], sentAt };
}

/** Removes a worker that has ended. */
export async function unregister({ query }: Queries, id: string): Promise<void> {
  await query('delete from raymond.workers where id = $1', [id]);
}

/** The work of a worker since its registration. */
export interface Traffic {
  readonly steps: number;
  /** Of the transactions that decide. */
  readonly roundTrips: number;
}

/** Renews the lease. Undefined if others have declared the worker dead; otherwise the time of the database. */
export async function renew(
  { query }: Queries,
  id: string,
  leaseMs: number,
  { steps, roundTrips, latencyMs }: Traffic & { readonly latencyMs?: number | undefined },
): Promise<number | undefined> {
  const [row] = await query<{ at: number }>(
    `update raymond.workers
        set heartbeat_at = clock_timestamp(), steps = $3, round_trips = $4, latency_ms = $5,
            lease_until = clock_timestamp() + $2 * interval '1 millisecond'
      where id = $1
      returning (extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
    [id, leaseMs, steps, roundTrips, latencyMs ?? null],
  );
  return row?.at;
}

/** Declares workers dead whose lease is over. So their steps wait again. */
export async function buryDead({ query }: Queries): Promise<readonly string[]> {
  const dead = await query<{ name: string }>(
    `delete from raymond.workers
      where id in (select id from raymond.workers where lease_until < clock_timestamp()
                      for update skip locked)
      returning name`,
  );
  return dead.map(({ name }) => name);
}

/** Shows other processes what the agents of a run are doing on a worker. */
export async function publish(
  { query }: Queries,
  run: string,
  worker: string,
  now: Now,
): Promise<void> {
  await query(
    `insert into raymond.publications (run, publisher, content) values ($1, $2, $3)
     on conflict (run, publisher) do update set content = excluded.content, published_at = now()
     returning pg_notify($4, 'now ' || run)`,
    [run, worker, JSON.stringify(now), CHANNEL],
  );
}

/** Those of the given runs, with their births, that were removed. */
export async function goneRuns(
  { query }: Queries,
  births: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(
    `select t.id from unnest($1::text[], $2::text[]) as t (id, born)
      where not exists (select from raymond.runs r where r.id = t.id and r.born::text = t.born)`,
    [[...births.keys()], [...births.values()]],
  );
  return rows.map(({ id }) => id);
}

/** Identifies the database: a worker's folder may be used with several of them in turn. */
export async function identityOf(queries: Queries): Promise<string> {
  const known = IDENTITIES.get(queries);
  if (known !== undefined) return known;
  const [found] = await queries.query<{ id: string }>('select id::text from raymond.identity');
  if (!found) throw new Error('The database has no identity.');
  IDENTITIES.set(queries, found.id);
  return found.id;
}

const IDENTITIES = new WeakMap<Queries, string>();

/** A worker as `raymond list --workers` shows it. */
export interface KnownWorker extends Traffic {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: number;
  /** How many steps it has at the moment. */
  readonly running: number;
  readonly leaseMs: number;
  /** The time since its last heartbeat. */
  readonly ageMs: number;
  /** Until the answer to its heartbeat before that; null before the second one. */
  readonly latencyMs: number | null;
}

export function listWorkers({ query }: Queries): Promise<readonly KnownWorker[]> {
  return query<KnownWorker>(
    `select w.name, w.host, w.pid, (extract(epoch from w.started_at) * 1000)::float8 as "startedAt",
            (select count(*) from raymond.claims c where c.worker = w.id)::int as running,
            w.lease_ms as "leaseMs", w.latency_ms as "latencyMs", w.steps::float8 as steps,
            w.round_trips::float8 as "roundTrips",
            (extract(epoch from clock_timestamp() - w.heartbeat_at) * 1000)::float8 as "ageMs"
       from raymond.workers w order by w.name, w.started_at`,
  );
}

/**
 * The shortest lease for a database at this distance. A worker that loses its connection has about half of its
 * lease left to open another one, which takes about five round trips.
 */
export const leastLeaseMs = (latencyMs: number): number => 10 * latencyMs;
