/** The workers. A worker without a row is dead: no other worker waits for it, and it changes nothing any more. */
import type { StepKey } from '../ports.ts';
import type { Database, Queries } from '../postgres/database.ts';
import type { WorkerFacts } from './ports.ts';
import { CLAIM_WORKFLOW_ID, enqueue, QUEUE_SCHEMA, type QueuedStep } from './queue-table.ts';

export interface LeftStep extends Pick<StepKey, 'agent'> {
  readonly run: string;
}

/**
 * Adds a worker. It replaces an earlier one in the same folder, whose process is gone. Gives the steps
 * that this one had or has begun, if no other worker has them.
 */
export function register(
  database: Database,
  id: string,
  { name, host, pid, place, limits }: WorkerFacts,
  leaseMs: number,
): Promise<readonly LeftStep[]> {
  return database.transaction(async (queries) => {
    const earlier = await queries.query<{ id: string }>(
      'delete from raymond.workers where place = $1 returning id::text',
      [place],
    );
    // Another statement: the first one waits for the last turn of the earlier worker, but does not see
    // the steps that this turn has taken.
    const lost = await queries.query<LeftStep>(
      `with freed as (
         update raymond.claims set worker = null, since = now() where worker = any($1::uuid[])
         returning run, agent, place)
       select run, agent from freed where place <> $2`,
      [earlier.map((one) => one.id), place],
    );
    await queries.query(
      `insert into raymond.workers (id, name, host, pid, place, limits, lease_until)
       values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 millisecond')`,
      [id, name, host, pid, place, JSON.stringify(limits), leaseMs],
    );
    const begun = await queries.query<LeftStep>(
      'select run, agent from raymond.claims where place = $1 and worker is null',
      [place],
    );
    return [...begun, ...lost];
  });
}

/** Removes a worker that has ended. It has no steps any more. */
export async function unregister(database: Database, id: string): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query('delete from raymond.workers where id = $1', [id]);
    await enqueue(queries, await released(queries, [id]));
  });
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

/** Declares workers dead whose lease is over, and puts their steps into the queues again. */
export function buryDead(database: Database): Promise<readonly string[]> {
  return database.transaction(async (queries) => {
    const dead = await queries.query<{ id: string; name: string }>(
      `delete from raymond.workers
        where id in (select id from raymond.workers where lease_until < clock_timestamp()
                        for update skip locked)
        returning id::text, name`,
    );
    if (dead.length === 0) return [];
    await enqueue(
      queries,
      await released(
        queries,
        dead.map(({ id }) => id),
      ),
    );
    return dead.map(({ name }) => name);
  });
}

/** Puts steps into their queues again that no worker has and that are in no queue. */
export async function requeueLost(database: Database): Promise<void> {
  await database.transaction(async (queries) => {
    const lost = await queries.query<QueuedStep>(
      `update raymond.claims c set worker = null, enqueued = enqueued + 1, since = now()
        where (c.worker is null or not exists (select from raymond.workers w where w.id = c.worker))
          and c.since < now() - interval '${LOST_AFTER_S} seconds'
          and not exists (select from ${QUEUE_SCHEMA}.workflow_status s
                           where s.workflow_uuid = ${CLAIM_WORKFLOW_ID} and s.status = 'ENQUEUED')
        returning run, agent, step, kind, enqueued`,
    );
    await enqueue(queries, lost);
  });
}

/** A worker that took a step from a queue needs a moment to claim it. */
const LOST_AFTER_S = 20;

export async function liveWorkers(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>('select id::text from raymond.workers');
  return rows.map(({ id }) => id);
}

/** Takes the steps from workers that are gone. */
function released(queries: Queries, workers: readonly string[]): Promise<readonly QueuedStep[]> {
  return queries.query<QueuedStep>(
    `update raymond.claims set worker = null, enqueued = enqueued + 1, since = now()
      where worker = any($1::uuid[])
      returning run, agent, step, kind, enqueued`,
    [workers],
  );
}
