/** The workers. A worker without a row is dead: no other worker waits for it, and it changes nothing any more. */
import type { Now } from '../model/now.ts';
import { CHANNEL } from '../postgres/announcer.ts';
import type { Database, Queries } from '../postgres/database.ts';
import type { WorkerFacts } from './ports.ts';

/**
 * Adds a worker. It replaces an earlier one in the same folder, whose process is gone. It gets the steps
 * that this one had or has begun, unless another worker has them. Gives their runs.
 */
export function register(
  database: Database,
  id: string,
  { name, host, pid, place, limits }: WorkerFacts,
  leaseMs: number,
): Promise<readonly string[]> {
  return database.transaction(async ({ query, write }) => {
    // This waits for the last turn of the earlier worker, so the next statements see its steps.
    const earlier = await query<{ id: string }>(
      'select id::text from raymond.workers where place = $1 for update',
      [place],
    );
    write(
      `insert into raymond.workers (id, name, host, pid, place, limits, lease_until)
       values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 millisecond')`,
      [id, name, host, pid, place, JSON.stringify(limits), leaseMs],
    );
    const left = query<{ run: string }>(
      `update raymond.claims set worker = $1
        where worker = any($2::uuid[]) or (place = $3 and worker is null) returning run`,
      [id, earlier.map((one) => one.id), place],
    );
    write('delete from raymond.workers where place = $1 and id <> $2', [place, id]);
    return [...new Set((await left).map(({ run }) => run))];
  });
}

/** Removes a worker that has ended. */
export async function unregister({ query }: Queries, id: string): Promise<void> {
  await query('delete from raymond.workers where id = $1', [id]);
}

/** Renews the lease. Undefined if others have declared the worker dead; otherwise the time of the database. */
export async function renew(
  { query }: Queries,
  id: string,
  leaseMs: number,
): Promise<number | undefined> {
  const [row] = await query<{ at: number }>(
    `update raymond.workers
        set heartbeat_at = clock_timestamp(),
            lease_until = clock_timestamp() + $2 * interval '1 millisecond'
      where id = $1
      returning (extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
    [id, leaseMs],
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

/** A folder may be used with several databases, one after the other. */
export async function identityOf({ query }: Queries): Promise<string> {
  const [found] = await query<{ id: string }>('select id::text from raymond.identity');
  if (!found) throw new Error('The database has no identity.');
  return found.id;
}
