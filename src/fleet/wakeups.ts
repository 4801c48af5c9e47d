/** When a worker has to look at a run: because of messages, deadlines, or because it is new. */
import type { Database, Transaction } from '../postgres/database.ts';
import { isRefused } from '../postgres/refused-runs.ts';

/** Sets the next time, in a transaction that has locked the run. Undefined if there is none. */
export function wakeAt({ write }: Transaction, run: string, at: number | undefined): void {
  if (at === undefined) write('delete from raymond.wakeups where run = $1', [run]);
  else
    write(
      `insert into raymond.wakeups (run, at) values ($1, to_timestamp($2::float8 / 1000))
       on conflict (run) do update set at = excluded.at`,
      [run, at],
    );
}

/**
 * The runs that some worker has to look at now. Each is given to one worker. If that one dies, others
 * get the run a little later. A worker does not get the runs that it refuses.
 */
export async function takeDue(
  database: Database,
  worker: string,
  most: number,
): Promise<readonly string[]> {
  const rows = await database.query<{ run: string }>(
    `update raymond.wakeups set at = now() + interval '10 seconds'
      where run in (select d.run from raymond.wakeups d
                     where d.at <= now() and not ${isRefused('d.run', '$2')}
                     order by d.at limit $1 for update of d skip locked)
      returning run`,
    [most, worker],
  );
  return rows.map(({ run }) => run);
}
