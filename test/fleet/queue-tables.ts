import { ensureSystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database';
import { GlobalLogger } from '@dbos-inc/dbos-sdk/internal/telemetry/logs';
import pg from 'pg';
import { QUEUE_SCHEMA } from '../../src/fleet/queue-table.ts';

/** Creates the tables of the queues, as a worker does, but without queues: a process has one set of them. */
export async function makeQueueTables(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  try {
    const logger = new GlobalLogger(undefined, { logLevel: 'error' });
    await ensureSystemDatabase(url, logger, pool, QUEUE_SCHEMA, false);
  } finally {
    await pool.end();
  }
}
