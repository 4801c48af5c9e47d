import { join } from 'node:path';
import { describe, test } from 'vitest';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { RunStore } from '../../src/ports.ts';
import { keepOutput } from '../../src/postgres/step-records.ts';
import { CHECKS, type StoreUnderTest } from '../contracts/run-store.ts';
import { started, temporaryFolder } from '../journal/fixtures.ts';
import { administer } from './new-database.ts';
import { open, sharedDatabase, storeAt } from './stores.ts';

const emptied = sharedDatabase();

/** Two processes on two machines, with the key of the same user. */
async function stores(): Promise<StoreUnderTest> {
  const url = await emptied();
  const key = userKey(realDisk, join(await temporaryFolder(), 'key'));
  const database = open(url);
  const other = await storeAt('two', database, { key });
  let silence = Promise.resolve();
  return {
    store: await storeAt('one', open(url), { key }),
    other: {
      ...other,
      now: async (id) => {
        await silence;
        return other.now(id);
      },
      lease: async (id) => {
        await silence;
        return other.lease(id);
      },
    } satisfies RunStore,
    fallSilent() {
      const past = "update raymond.leases set until = now() - interval '1 second'";
      silence = administer(url, `${past} where run = '${started.run}'`);
    },
    keepRecord: (step, name, content) =>
      database.transaction(async (queries) =>
        keepOutput(queries, started.run, step, name, content),
      ),
  };
}

describe('a store in PostgreSQL', () => {
  test.each(CHECKS)('$name', async ({ holds }) => holds(await stores()));
});
