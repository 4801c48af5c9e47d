import { eventually } from '../eventually.ts';
import type { Started } from '../raymond.ts';
import type { Fleet } from './fleet.ts';

/**
 * Kills a worker that knows the end of a step and waits for the row of the run to decide about it. `finish`
 * lets the step end. No other worker may work on the run.
 */
export async function killUndecided(
  fleet: Fleet,
  run: string,
  worker: Started,
  finish: () => void,
): Promise<void> {
  const holder = await fleet.database.connect();
  try {
    await holder.query('begin');
    await holder.query('select from raymond.runs where id = $1 for update', [run]);
    finish();
    await eventually('the worker wants to decide', async () => {
      const { rows } = await holder.query(
        'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))',
      );
      return rows.length > 0;
    });
    worker.child.kill('SIGKILL');
    await worker.ended;
  } finally {
    await holder.end();
  }
}
