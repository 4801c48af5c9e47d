/**
 * The runs that a worker refuses, because no key on its machine has sealed them. It leaves them to the
 * others: it does not look at them, and passes on the steps that it gets from a queue.
 */
import type { Database, Queries } from '../postgres/database.ts';
import { isRefused, reasonsOf } from '../postgres/refused-runs.ts';
import { CLAIM_WORKFLOW_ID, enqueue, QUEUE_SCHEMA, type QueuedStep } from './queue-table.ts';

const VALID_FOR_S = 300;

export interface Terms {
  /** The facts on which a refusal would depend. */
  readonly reasons: string;
  /** Whether the worker has refused the run before, for the same reasons. */
  readonly isRefused: boolean;
}

/** Undefined if there is no such run. */
export async function termsOf(
  { query }: Queries,
  run: string,
  worker: string,
): Promise<Terms | undefined> {
  const [terms] = await query<Terms>(
    `select ${reasonsOf('r')} as reasons, ${isRefused('$1', '$2')} as "isRefused"
       from raymond.runs r where r.id = $1`,
    [run, worker],
  );
  return terms;
}

/** Whether the worker refuses this run for the first time. */
export async function refuse(
  { query }: Queries,
  run: string,
  worker: string,
  reasons: string,
): Promise<boolean> {
  const [made] = await query<{ isNew: boolean }>(
    `insert into raymond.refusals (run, worker, reasons, until)
     select r.id, w.id, $3, now() + interval '${VALID_FOR_S} seconds'
       from raymond.runs r, raymond.workers w where r.id = $1 and w.id = $2
     on conflict (run, worker) do update set reasons = excluded.reasons, until = excluded.until
     returning xmax = 0 as "isNew"`,
    [run, worker, reasons],
  );
  return made?.isNew === true;
}

/**
 * Puts the steps into their queues again that this worker got and cannot take, if another worker may take
 * them. Otherwise they wait.
 */
export async function passOn(database: Database, worker: string): Promise<void> {
  await database.transaction(async (queries) => {
    const steps = await queries.query<QueuedStep>(
      `update raymond.claims c set enqueued = enqueued + 1, since = now()
        where c.worker is null
          and c.run in (select run from raymond.refusals where worker = $1)
          and exists (select from raymond.workers w where not ${isRefused('c.run', 'w.id')})
          and not exists (select from ${QUEUE_SCHEMA}.workflow_status s
                           where s.workflow_uuid = ${CLAIM_WORKFLOW_ID}
                             and s.status in ('ENQUEUED', 'PENDING'))
        returning run, agent, step, kind, enqueued`,
      [worker],
    );
    await enqueue(queries, steps);
  });
}
