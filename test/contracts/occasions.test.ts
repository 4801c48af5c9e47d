import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realDisk } from '../../src/journal/disk.ts';
import { fileOccasions } from '../../src/journal/file-occasions.ts';
import { postgresOccasions } from '../../src/postgres/occasions.ts';
import { steadyClock } from '../../src/world/steady-clock.ts';
import { temporaryFolder } from '../journal/fixtures.ts';
import { administer } from '../postgres/new-database.ts';
import { open, sharedDatabase } from '../postgres/stores.ts';
import { delivery, KEPT, KEY, LEDGER_CHECKS, type LedgerUnderTest } from './occasions.ts';

const emptied = sharedDatabase();

/** Each has its own pid, as two processes have. */
function ledgerIn(folder: string, pid: number, report: (text: string) => void = () => {}) {
  const self = { pid, started: '1', boot: 'b', space: 's', host: 'h' };
  const world = { self, clock: steadyClock(), isAlive: () => true, report };
  return fileOccasions({ disk: realDisk, folder, keeps: KEPT, lockWorld: () => world });
}

async function files(): Promise<LedgerUnderTest> {
  const folder = await temporaryFolder();
  return { one: ledgerIn(folder, 1), other: ledgerIn(folder, 2) };
}

async function database(): Promise<LedgerUnderTest> {
  const url = await emptied();
  await administer(url, 'delete from raymond.occasions', 'delete from raymond.triggers');
  return { one: postgresOccasions(open(url), KEPT), other: postgresOccasions(open(url), KEPT) };
}

describe.each([
  ['files', files],
  ['PostgreSQL', database],
])('a ledger in %s', (_, make) => {
  test.each(LEDGER_CHECKS)('$name', async ({ holds }) => holds(await make()));
});

test('only the user can read the files of a ledger', async () => {
  const folder = await temporaryFolder();
  await ledgerIn(folder, 1).record(delivery('a'), 'secret payload');
  const names = await readdir(folder, { recursive: true });
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    const { mode } = await stat(join(folder, name));
    expect([0o600, 0o700], name).toContain(mode & 0o777);
  }
});

test('a damaged record starts nothing again, is named once, and stops no other occasion', async () => {
  const folder = await temporaryFolder();
  const reports: string[] = [];
  const ledger = ledgerIn(folder, 1, (text) => reports.push(text));
  await ledger.record(delivery('a'), 'payload');
  const [name = ''] = (await readdir(folder, { recursive: true })).filter((one) =>
    one.endsWith('.json'),
  );
  const file = await realDisk.open(join(folder, name), 'change');
  await file.truncate(5);
  await file.close();
  await ledger.record(delivery('b'));
  for (let look = 0; look < 3; look++) {
    expect(await ledger.open(KEY)).toMatchObject([{ occasion: { id: delivery('b').id } }]);
    expect(await ledger.newest({ project: KEY.project }, 10)).toHaveLength(1);
  }
  expect(await ledger.record(delivery('a'))).toBe('known');
  await ledger.settle(delivery('a'), { kind: 'started', at: 1 });
  expect(await ledger.find(KEY, delivery('a').id)).toBeUndefined();
  expect(reports).toEqual([expect.stringContaining(name)]);
});

test('a damaged time since which a trigger is kept is written again', async () => {
  const folder = await temporaryFolder();
  const ledger = ledgerIn(folder, 1);
  await ledger.keptSince(KEY, 5);
  const [name = ''] = (await readdir(folder, { recursive: true })).filter((one) =>
    one.endsWith('since'),
  );
  for (const text of ['', 'x', '1e400']) {
    await writeFile(join(folder, name), text);
    expect(await ledger.keptSince(KEY, 1_000)).toBe(1_000);
    expect(await ledger.keptSince(KEY, 2_000)).toBe(1_000);
  }
});
