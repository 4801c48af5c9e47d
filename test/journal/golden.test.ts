/** Journals that older versions wrote. They are never changed: a run of last year must still load. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realDisk } from '../../src/journal/disk.ts';
import { readEvents, readRun } from '../../src/journal/read-journal.ts';
import { collected, foldAll, seen } from './fixtures.ts';

const version1 = join(import.meta.dirname, '../journals/version-1.jsonl');

test('a journal of version 1 loads, with every kind of event that it knew', async () => {
  const events = await collected(readEvents(realDisk, version1));
  expect(events).toHaveLength(40);
  expect(events.at(-1)).toMatchObject({ type: 'run-ended', at: 1700000010007, outcome: 'failed' });
  expect(new Set(events.map((event) => event.type)).size).toBe(22);
});

test('the run is that of its events: a snapshot of an older version is not used', async () => {
  const { run } = await readRun(realDisk, version1, seen);
  expect(run).toEqual(foldAll(await collected(readEvents(realDisk, version1))));
});
