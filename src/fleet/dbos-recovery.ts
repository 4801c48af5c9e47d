/**
 * The recovery from the death of workers, on a schedule of DBOS. One worker at a time runs DBOS, so that the
 * others need no connections for it. If that worker dies, another one takes its place.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { UserError } from '../model/user-error.ts';
import { connectionSettings, type Database, type Queries, RECOVERY } from '../postgres/database.ts';
import { codeOf, troubleOf } from '../postgres/trouble.ts';
import type { Recovery } from './ports.ts';
import { reportBlockers } from './report-blockers.ts';

export interface DbosRecoveryParts {
  readonly database: Database;
  /** Of the database. DBOS uses separate connections. */
  readonly url: string;
  /** Shows a line to the user. */
  readonly report?: (text: string) => void;
}

export function dbosRecovery({ database, url, report = () => {} }: DbosRecoveryParts): Recovery {
  const pool = new pg.Pool({
    ...connectionSettings(url),
    query_timeout: LONGEST_STATEMENT_MS,
    ...RECOVERY,
  });
  pool.on('error', () => {});
  let recover = async () => {};
  let endTurn = async () => {};
  // DBOS knows a workflow by its name until the end of the process.
  const workflowFn = DBOS.registerWorkflow(
    async (at: Date) => {
      await recover();
      if (at.getSeconds() < EVERY_S) await removeOld();
    },
    { name: NAME },
  );
  return {
    async start(worker, given, isOver) {
      recover = given;
      const use = (systemDatabasePool: pg.Pool) =>
        DBOS.setConfig({
          name: 'raymond',
          // Only the pool is used. DBOS wants the form of a URL.
          systemDatabaseUrl: 'postgresql://raymond@localhost/raymond',
          systemDatabasePool,
          systemDatabaseSchemaName: SCHEMA,
          executorID: worker,
          applicationVersion: VERSION,
          logger: SILENT,
          useListenNotify: false,
          enableOTLP: false,
          tracingEnabled: false,
        });
      const end = await turn(database, isOver);
      endTurn = end;
      // A stop may have come before.
      if (isOver()) return end();
      try {
        await prepareTables(database, url, report, use, isOver);
        if (isOver()) return;
        use(pool);
        await launch(database, isOver, () =>
          DBOS.applySchedules([
            { scheduleName: NAME, workflowFn, schedule: `*/${EVERY_S} * * * * *` },
          ]),
        );
      } catch (error) {
        throw codeOf(error) === '42501' ? tooFewRights() : error;
      }
    },
    async stop() {
      await DBOS.shutdown({ workflowCompletionTimeoutMS: LONGEST_MS });
      await endTurn();
    },
    close: () => pool.end(),
  };
}

/** The schema of the tables of DBOS. */
const SCHEMA = 'raymond_dbos';
const NAME = 'recovery';
/** DBOS gives the recovery to the workers of the newest version. */
const VERSION = '2';
const EVERY_S = 2;

function tooFewRights(): UserError {
  return new UserError(
    'database-rights',
    `The user of the database may not use the schema ${SCHEMA}, which has the schedule of the workers.`,
    `Let the owner of the database start a worker once. Then grant usage on the schema, and all rights on its tables, sequences and functions.`,
  );
}

/** DBOS keeps a row for each time. */
async function removeOld(): Promise<void> {
  const endTime = new Date(Date.now() - KEPT_MS).toISOString();
  const old = await DBOS.listWorkflows({
    endTime,
    limit: MOST,
    loadInput: false,
    loadOutput: false,
  });
  await DBOS.deleteWorkflows(old.map(({ workflowID }) => workflowID));
}

const KEPT_MS = 600_000;
const MOST = 1000;

/**
 * Creates the tables of a new database. A statement that creates an index may have to wait for hours, so
 * these connections have no limit of time. Otherwise each attempt would leave a connection that waits.
 */
async function prepareTables(
  database: Database,
  url: string,
  report: (text: string) => void,
  use: (pool: pg.Pool) => void,
  isOver: () => boolean,
): Promise<void> {
  const { query_timeout: _, ...patient } = connectionSettings(url);
  const pool = new pg.Pool({ ...patient, ...RECOVERY });
  pool.on('error', () => {});
  try {
    if ((await isReady(database)) || isOver()) return;
    use(pool);
    await reportBlockers(pool, RECOVERY.application_name, report, () => launch(database, isOver));
    await DBOS.shutdown();
  } finally {
    await pool.end();
  }
}

async function isReady({ query }: Queries): Promise<boolean> {
  const [found] = await query<{ isReady: boolean }>(
    'select to_regclass($1) is not null as "isReady"',
    [`${SCHEMA}.dbos_migrations`],
  );
  return found?.isReady === true;
}

async function launch(
  { query }: Database,
  isOver: () => boolean,
  afterwards = async () => {},
): Promise<void> {
  for (let failures = 1; !isOver(); ) {
    try {
      await DBOS.launch();
      return await afterwards();
    } catch (error) {
      await DBOS.shutdown().catch(() => {});
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      const isPassing = troubleOf(cause) !== 'other' || isConcurrent(cause);
      // DBOS does not always give the cause, so this waits until the database answers, and tries it again.
      if (!isPassing && (codeOf(cause) === '42501' || failures++ === ATTEMPTS)) throw cause;
      await query('select 1');
      await delay(RETRY_MS);
    }
  }
}

const ATTEMPTS = 3;

/** A worker that died has left a statement that still changes the tables. */
const isConcurrent = (error: unknown) =>
  error instanceof Error && error.message.includes('tuple concurrently updated');

/**
 * Waits until no other worker runs DBOS. Gives a function that ends the turn.
 *
 * Not with a lock of PostgreSQL: the server would keep it for a worker that it cannot reach. And an index that
 * is created concurrently would wait for the workers that wait for the lock.
 */
async function turn({ query }: Database, isOver: () => boolean): Promise<() => Promise<void>> {
  const token = randomUUID();
  const hold = async () => (await query(HOLD, [NAME, token, TURN_MS])).length > 0;
  while (!(await hold()))
    for (let waited = 0; waited < TURN_MS / 4; waited += RETRY_MS / 5) {
      if (isOver()) return async () => {};
      await delay(RETRY_MS / 5);
    }
  const renewing = setInterval(() => void hold().catch(() => {}), TURN_MS / 4);
  return async () => {
    clearInterval(renewing);
    await query("delete from raymond.leases where run = '.' || $1 and token = $2", [NAME, token]);
  };
}

/** No run has such a name. */
const HOLD = `insert into raymond.leases as held (run, token, owner, until)
  values ('.' || $1, $2, '', now() + $3 * interval '1 millisecond')
  on conflict (run) do update set token = $2, until = excluded.until
  where held.token = $2 or held.until < now() returning run`;
const TURN_MS = 10_000;
const RETRY_MS = 500;

/** The next poll takes another connection. */
const LONGEST_STATEMENT_MS = 60_000;
const LONGEST_MS = 2 ** 31 - 1;

/** Trouble of the database passes. Raymond reports it itself. */
const nothing = () => {};
const SILENT = { info: nothing, debug: nothing, warn: nothing, error: nothing };
