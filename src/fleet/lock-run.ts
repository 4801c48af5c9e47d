import { UserError } from '../model/user-error.ts';
import type { Queries } from '../postgres/database.ts';
import { checkHead } from '../postgres/head.ts';
import { lockRow, type RunRow } from '../postgres/run-row.ts';
import type { RowSeals } from '../postgres/seals.ts';

/** This worker was declared dead, because it did not renew its lease. Others have its steps. */
export class WorkerLost extends Error {}

/** The run was removed. */
export class RunGone extends Error {}

/** A command such as `rewind` holds the run at the moment. */
export class RunBusy extends Error {}

/** A command has changed what the steps of the run need, so it must be opened again. No worker has a step of it. */
export class RunChanged extends Error {}

export interface LockedRun {
  readonly row: RunRow;
  /** The time of the database, so that all workers have the same clock. */
  readonly at: number;
}

/**
 * Locks a run for one transaction of a worker. It also holds the row of the worker: to declare the
 * worker dead, others remove this row, and so they wait for the transaction.
 */
export async function lockRun(
  queries: Queries,
  run: string,
  worker: string,
  rows: RowSeals,
): Promise<LockedRun> {
  const locking = lockRow(queries, run, rows).catch((error) => {
    throw error instanceof UserError && error.code === 'no-run'
      ? new RunGone(error.message)
      : error;
  });
  const looking = queries.query<{ at: number; isLeased: boolean }>(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as at,
            exists (select from raymond.leases where run = $1 and until > clock_timestamp()) as "isLeased"
       from raymond.workers where id = $2 for key share`,
    [run, worker],
  );
  const [row, [facts]] = await Promise.all([locking, looking]);
  await checkHead(rows, run, row);
  if (!facts) throw new WorkerLost('This worker was declared dead.');
  if (facts.isLeased) throw new RunBusy(`A command changes ${run}.`);
  return { row, at: Math.floor(facts.at) };
}
