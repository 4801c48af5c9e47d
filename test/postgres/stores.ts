import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { RunStore } from '../../src/ports.ts';
import { type Database, type DatabaseParts, openDatabase } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { type PostgresStoreParts, postgresStore } from '../../src/postgres/postgres-store.ts';
import { headsIn } from '../../src/postgres/seen-heads.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { temporaryFolder } from '../journal/fixtures.ts';
import { administer, newDatabase } from './new-database.ts';

/** One database with tables for all tests of a file. Each call removes all runs from it. */
export function sharedDatabase(): () => Promise<string> {
  let url = '';
  const removals: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    url = await newDatabase((remove) => removals.push(remove));
    await prepare(url);
  });
  afterAll(async () => {
    for (const remove of removals) await remove();
  });
  return async () => {
    await administer(url, ...TABLES.map((table) => `delete from raymond.${table}`));
    return url;
  };
}

const TABLES = ['runs', 'leases', 'publications', 'caches', 'workers'];

/** Creates the tables. */
export async function prepare(url: string): Promise<void> {
  const database = openDatabase({ url });
  await migrate(database);
  await database.close();
}

/** Closed after the test. */
export function open(url: string, parts: Partial<DatabaseParts> = {}): Database {
  const database = openDatabase({ url, pausesMs: [5, 50], ...parts });
  onTestFinished(() => database.close());
  return database;
}

/** The store of a process on a machine of this name. It sends no heartbeats by itself. */
export async function storeAt(
  host: string,
  database: Database,
  more: Partial<PostgresStoreParts> = {},
): Promise<RunStore> {
  const self = { pid: 1, started: '1', boot: host, space: host, host };
  return postgresStore({
    database,
    key: userKey(realDisk, join(await temporaryFolder(), 'key')),
    codec: runCodec,
    heads: headsIn(realDisk, await temporaryFolder(), () => {}),
    clock: { now: Date.now, at: () => () => {} },
    world: () => ({ self, isAlive: () => true }),
    leaseMs: 600_000,
    ...more,
  });
}
