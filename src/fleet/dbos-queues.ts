/**
 * The queues of DBOS. A workflow of DBOS stands for a step, or for several steps of an agent in a row. It
 * stores nothing itself: the claims say who executes a step, so a workflow that runs twice changes
 * nothing.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { registerInternalQueue } from '@dbos-inc/dbos-sdk/internal/wfqueue';
import pg from 'pg';
import { UserError } from '../model/user-error.ts';
import { connectionSettings } from '../postgres/database.ts';
import { codeOf, troubleOf } from '../postgres/trouble.ts';
import type { ExecuteStep, Limits, Queues } from './ports.ts';
import { APPLICATION, QUEUE_SCHEMA, QUEUE_VERSION, queueOf, STEP_WORKFLOW } from './queue-table.ts';
import { reportBlockers } from './report-blockers.ts';

export interface DbosQueuesParts {
  /** Of the database. The queues use separate connections. */
  readonly url: string;
  /** The most steps that may run at the same time on all workers. Undefined without a limit. */
  readonly limitsForAll: { readonly [kind in keyof Limits]: number | undefined };
  /** Shows a line to the user. */
  readonly report?: (text: string) => void;
}

export function dbosQueues({ url, limitsForAll, report = () => {} }: DbosQueuesParts): Queues {
  const pool = new pg.Pool({
    ...connectionSettings(url),
    query_timeout: LONGEST_STATEMENT_MS,
    max: 3,
    application_name: CONNECTIONS,
  });
  pool.on('error', () => {});
  let execute: ExecuteStep = async () => {};
  let isRegistered = false;
  let isStopped = false;
  return {
    async start(worker, limits, given, isOver) {
      execute = given;
      isStopped = false;
      const use = (systemDatabasePool: pg.Pool) =>
        DBOS.setConfig({
          name: APPLICATION,
          // Only the pool is used. DBOS wants the form of a URL.
          systemDatabaseUrl: 'postgresql://raymond@localhost/raymond',
          systemDatabasePool,
          systemDatabaseSchemaName: QUEUE_SCHEMA,
          executorID: worker,
          applicationVersion: QUEUE_VERSION,
          logger: SILENT,
          useListenNotify: false,
          enableOTLP: false,
          tracingEnabled: false,
        });
      if (!isRegistered) {
        isRegistered = true;
        DBOS.registerWorkflow(
          (run: string, agent: string, kind: string) => execute(run, agent, kind),
          // The claims count the attempts.
          { name: STEP_WORKFLOW, maxRecoveryAttempts: 1_000_000 },
        );
        for (const kind of ['prompt', 'script'] as const)
          registerInternalQueue(queueOf(kind), {
            workerConcurrency: limits[`${kind}s`],
            ...forAll(limitsForAll[`${kind}s`]),
            minPollingIntervalMs: POLL_MS,
          });
      }
      try {
        await prepareTables(url, report, use, isOver);
        if (isOver()) return;
        use(pool);
        await launch(pool, isOver);
      } catch (error) {
        throw codeOf(error) === '42501' ? tooFewRights() : error;
      }
    },
    stop() {
      isStopped = true;
      return DBOS.shutdown({ workflowCompletionTimeoutMS: LONGEST_MS });
    },
    close: () => pool.end(),
    clean: (liveWorkers) =>
      removeOld(new Set(liveWorkers)).catch((error) => {
        // DBOS refuses everything after its end.
        if (!isStopped) throw error;
      }),
  };
}

function tooFewRights(): UserError {
  return new UserError(
    'database-rights',
    `The user of the database may not use the schema ${QUEUE_SCHEMA}, which has the queues of the workers.`,
    `Let the owner of the database start a worker once. Then grant usage on the schema, and all rights on its tables, sequences and functions.`,
  );
}

/** Workflows that are over, and those of workers that are gone. */
async function removeOld(live: ReadonlySet<string>): Promise<void> {
  const over = await DBOS.listWorkflows({ ...LIST, status: [...OVER], limit: MOST });
  const begun = await DBOS.listWorkflows({ ...LIST, status: 'PENDING', limit: MOST });
  const left = begun.filter(({ executorId }) => !live.has(executorId ?? ''));
  const ids = [...over, ...left].map(({ workflowID }) => workflowID);
  if (ids.length > 0) await DBOS.deleteWorkflows(ids);
}

const CONNECTIONS = 'raymond queues';

/**
 * Creates the tables of a new database. A statement that creates an index may have to wait for hours, so
 * these connections have no limit of time. Otherwise each attempt would leave a connection that waits.
 */
async function prepareTables(
  url: string,
  report: (text: string) => void,
  use: (pool: pg.Pool) => void,
  isOver: () => boolean,
): Promise<void> {
  const { query_timeout: _, ...patient } = connectionSettings(url);
  const pool = new pg.Pool({ ...patient, max: 3, application_name: CONNECTIONS });
  pool.on('error', () => {});
  try {
    if (await isReady(pool, isOver)) return;
    use(pool);
    await reportBlockers(pool, CONNECTIONS, report, () => launch(pool, isOver));
    await DBOS.shutdown();
  } finally {
    await pool.end();
  }
}

/** Whether the tables exist. While one worker creates them, the others wait for its lock. */
async function isReady(pool: pg.Pool, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    try {
      const { rows } = await pool.query<{ is_ready: boolean }>(
        'select to_regclass($1) is not null as is_ready',
        [`${QUEUE_SCHEMA}.dbos_migrations`],
      );
      return rows[0]?.is_ready === true;
    } catch (error) {
      if (troubleOf(error) === 'other') throw error;
      await delay(RETRY_MS);
    }
  }
  return true;
}

/** Several workers must not create the tables at the same time, so they launch in turn. */
async function launch(pool: pg.Pool, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      return await locked(pool, isOver, () => DBOS.launch());
    } catch (error) {
      await DBOS.shutdown().catch(() => {});
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      if (troubleOf(cause) === 'other' && !isConcurrent(cause)) throw cause;
      await delay(RETRY_MS);
    }
  }
}

/** A worker that died has left a statement that still changes the tables. */
const isConcurrent = (error: unknown) =>
  error instanceof Error && error.message.includes('tuple concurrently updated');

async function locked(
  pool: pg.Pool,
  isOver: () => boolean,
  work: () => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  const onError = () => {};
  client.on('error', onError);
  try {
    // Not `pg_advisory_lock`: an index that is created concurrently waits for waiting statements.
    while (!(await isLocked(client))) {
      if (isOver()) return client.release();
      await delay(RETRY_MS / 5);
    }
    await work();
    await client.query('select pg_advisory_unlock($1)', [LAUNCH_LOCK]);
    client.release();
  } catch (error) {
    // This also ends the lock.
    client.release(true);
    throw error;
  } finally {
    client.removeListener('error', onError);
  }
}

async function isLocked(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ is_locked: boolean }>(
    'select pg_try_advisory_lock($1) as is_locked',
    [LAUNCH_LOCK],
  );
  return rows[0]?.is_locked === true;
}

/** Any number that other programs are unlikely to use. */
const LAUNCH_LOCK = 7_296_663_602;
const RETRY_MS = 500;

const forAll = (concurrency: number | undefined) => concurrency !== undefined && { concurrency };
const POLL_MS = 100;
/** The next poll takes another connection. */
const LONGEST_STATEMENT_MS = 60_000;
const LONGEST_MS = 2 ** 31 - 1;
const MOST = 1000;
const LIST = { workflowName: STEP_WORKFLOW, loadInput: false, loadOutput: false };
const OVER = ['SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'] as const;

/** Trouble of the database passes. Raymond reports it itself. */
const nothing = () => {};
const SILENT = { info: nothing, debug: nothing, warn: nothing, error: nothing };
