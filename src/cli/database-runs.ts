/** The runs in a database. Only commands that use one load this file. */
import { hostname } from 'node:os';
import { isAlive, processSpace, self } from '../execute/process/index.ts';
import type { RunStore } from '../ports.ts';
import { type Database, openDatabase } from '../postgres/database.ts';
import { migrate } from '../postgres/migrations.ts';
import type { ProcessWorld } from '../postgres/owners.ts';
import { type PostgresStoreParts, postgresStore } from '../postgres/postgres-store.ts';
import type { RunParts } from '../postgres/run-row.ts';
import { rowSeals } from '../postgres/seals.ts';
import { sealedText } from './own-runs.ts';
import { runCodec } from './run-codec.ts';
import { stderr } from './terminal.ts';

export interface DatabaseRuns {
  readonly database: Database;
  readonly parts: RunParts;
  readonly store: RunStore;
}

/** Connects, and creates the tables if necessary. Throws a UserError if that is not possible. */
export async function databaseRuns(
  url: string,
  { key, clock }: Pick<PostgresStoreParts, 'key' | 'clock'>,
): Promise<DatabaseRuns> {
  const database = openDatabase({ url, report: stderr.say });
  await migrate(database);
  const parts = { codec: runCodec, sealedText, rows: rowSeals(key) };
  let known: ProcessWorld | undefined;
  const world = () => {
    known ??= { self: { ...self(), space: processSpace(), host: hostname() }, isAlive };
    return known;
  };
  const store = postgresStore({ ...parts, database, key, clock, world, areCarried: true });
  return { database, parts, store };
}
