import type pg from 'pg';

/**
 * Says which connections of others hold up the statements of this pool, if that takes long. A new database is an
 * example: DBOS creates indexes concurrently, and PostgreSQL then waits for all transactions that are open.
 */
export async function reportBlockers(
  pool: pg.Pool,
  name: string,
  report: (text: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  let told = '';
  const timer = setInterval(() => {
    const look = pool.query<Blocker>(BLOCKERS, [name]);
    void look.then(
      ({ rows }) => {
        const text = rows.map(textOf).join(', ');
        if (text !== '' && text !== told)
          report(
            `The worker prepares its schedule, and PostgreSQL waits for an open transaction of ${text}. It continues when that ends.`,
          );
        told = text;
      },
      // The work itself reports trouble of the database.
      () => {},
    );
  }, LOOK_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

const LOOK_EVERY_MS = 2_000;

interface Blocker {
  readonly pid: number;
  readonly name: string | null;
  readonly user: string | null;
}

const BLOCKERS = `select distinct b.pid, b.application_name as name, b.usename as user
  from pg_stat_activity a
  cross join unnest(pg_blocking_pids(a.pid)) as blocking (pid)
  join pg_stat_activity b on b.pid = blocking.pid
  where a.application_name = $1 and a.datname = current_database()
    and b.application_name is distinct from $1 order by b.pid`;

/** `psql of me (process 12 of the server)` */
function textOf({ pid, name, user }: Blocker): string {
  const who = name ? (user ? `${name} of ${user}` : name) : (user ?? 'another program');
  return `${who} (process ${pid} of the server)`;
}
