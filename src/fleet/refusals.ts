/**
 * The runs that a worker refuses, because no key on its machine has sealed them. It leaves them to the
 * others: it does not look at them, and takes none of their steps.
 */
import type { Queries } from '../postgres/database.ts';
import { isRefused, reasonsOf } from '../postgres/refused-runs.ts';

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
