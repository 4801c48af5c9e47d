import { join } from 'node:path';
import { describe, onTestFinished, test } from 'vitest';
import { runCodec } from '../../src/cli/run-codec.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { RunStore } from '../../src/ports.ts';
import { openDatabase } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { postgresStore } from '../../src/postgres/postgres-store.ts';
import { CHECKS, type StoreUnderTest } from '../contracts/run-store.ts';
import { started, temporaryFolder } from '../journal/fixtures.ts';
import { administer, newDatabase } from './new-database.ts';

const sealedText = ({ id, settings }: { id: string; settings: { budgetUsd: number } }) =>
  JSON.stringify([id, settings.budgetUsd]);

async function stores(): Promise<StoreUnderTest> {
  const url = await newDatabase();
  const folder = await temporaryFolder();
  const key = userKey(realDisk, join(folder, 'key'));
  const processAt = (host: string): RunStore => {
    const database = openDatabase({ url });
    onTestFinished(() => database.close());
    const self = { pid: 1, started: '1', boot: host, space: host, host };
    return postgresStore({
      database,
      key,
      codec: runCodec,
      sealedText,
      // Without signs of life, only the time counts.
      clock: { now: Date.now, at: () => () => {} },
      world: () => ({ self, isAlive: () => true }),
      leaseMs: 600_000,
    });
  };
  const one = openDatabase({ url });
  await migrate(one);
  await one.close();
  let silence = Promise.resolve();
  return {
    store: processAt('one'),
    other: after(() => silence, processAt('two')),
    fallSilent() {
      const past = "update raymond.leases set until = now() - interval '1 second'";
      silence = administer(url, `${past} where run = '${started.run}'`);
    },
  };
}

/** The same store, which waits before it does anything. */
function after(ready: () => Promise<void>, store: RunStore): RunStore {
  return {
    ...store,
    now: async (id) => {
      await ready();
      return store.now(id);
    },
    lease: async (id) => {
      await ready();
      return store.lease(id);
    },
  };
}

describe('a store in PostgreSQL', () => {
  test.each(CHECKS)('$name', async ({ holds }) => holds(await stores()));
});
