/** The runs in a database. Only commands that use one load this file. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive, processSpace, self } from '../../execute/process/index.ts';
import { type Disk, realDisk } from '../../journal/disk.ts';
import type { RunStore } from '../../ports.ts';
import { type Database, openDatabase } from '../../postgres/database.ts';
import { migrate } from '../../postgres/migrations.ts';
import type { OwnParts } from '../../postgres/own-run.ts';
import type { ProcessWorld } from '../../postgres/owners.ts';
import { postgresStore } from '../../postgres/postgres-store.ts';
import { rowSeals } from '../../postgres/seals.ts';
import { type Heads, headsIn } from '../../postgres/seen-heads.ts';
import { userStateFolder } from '../config/user-folders.ts';
import { runCodec } from '../run-codec.ts';
import type { Surroundings } from '../surroundings.ts';

export interface DatabaseRuns {
  readonly database: Database;
  readonly parts: OwnParts;
  readonly store: RunStore;
}

/** Connects, and creates the tables if necessary. Throws a UserError if that is not possible. */
export async function databaseRuns(
  url: string,
  { key, clock, report }: Pick<Surroundings, 'key' | 'clock' | 'report'>,
): Promise<DatabaseRuns> {
  const database = openDatabase({ url, report });
  await migrate(database);
  const parts = { codec: runCodec, rows: rowSeals(key), heads: headsOfUser(realDisk, report) };
  let known: ProcessWorld | undefined;
  const world = () => {
    known ??= { self: { ...self(), space: processSpace(), host: hostname() }, isAlive };
    return known;
  };
  const store = postgresStore({ ...parts, database, key, clock, world, report, areCarried: true });
  return { database, parts, store };
}

/** The states of runs in databases that the user has seen on this machine. */
export const headsOfUser = (disk: Disk, report: (text: string) => void): Heads =>
  headsIn(disk, join(userStateFolder(), 'database-heads'), report);
