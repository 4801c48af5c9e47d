import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { guarded } from '../../test/journal/door.ts';
import {
  create,
  ended,
  eventsOf,
  foldAll,
  newJournalPath,
  nothing,
  open,
  type Seen,
  seen,
  started,
  woke,
} from '../../test/journal/fixtures.ts';
import type { RunEvent } from '../model/event.ts';
import { realDisk } from './disk.ts';
import type { FileJournal } from './file-journal.ts';
import { readEvents, readRun } from './read-journal.ts';

describe('snapshots', () => {
  const MANY = 200_000;

  async function appendMany(
    journal: FileJournal<Seen>,
    count: number,
    first: readonly RunEvent[],
  ): Promise<Seen> {
    let run = foldAll(first);
    if (first.length > 0) await journal.append(first, run);
    for (let at = 0; at < count; ) {
      const events: RunEvent[] = [];
      for (; events.length < 1000 && at < count; at++) events.push(woke(at, `main_worker${at}`));
      run = events.reduce<Seen>(seen.apply, run);
      await journal.append(events, run);
    }
    return run;
  }

  function countingReads() {
    const count = { bytes: 0 };
    const disk = guarded(realDisk, (operation, bytes) => {
      if (operation === 'read') count.bytes += bytes;
      return undefined;
    });
    return { disk, count };
  }

  test('let a reader skip the beginning of a long journal', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    const run = await appendMany(journal, MANY, [started]);
    await journal.close();
    const size = (await stat(path)).size;
    expect(size).toBeGreaterThan(10 * 1024 * 1024);

    const { disk, count } = countingReads();
    expect((await readRun(disk, path, seen)).run).toEqual(run);
    expect(count.bytes).toBeLessThan(3 * 1024 * 1024);

    let events = 0;
    for await (const event of readEvents(realDisk, path)) if (event.type) events++;
    expect(events).toBe(MANY + 1);
  });

  test('are found by the pointer, and a wrong pointer only costs time', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    const run = await appendMany(journal, 20_000, [started]);
    await journal.close();
    const { size } = await stat(path);
    const { disk, count } = countingReads();
    for (const wrong of ['', 'rubbish', '0', '1', '-5', '57', `${size}`, `${size * 2}`, '1e999']) {
      await writeFile(path.replace('.jsonl', '.snapshot'), wrong);
      count.bytes = 0;
      expect((await readRun(disk, path, seen)).run, wrong).toEqual(run);
      expect(count.bytes).toBeGreaterThanOrEqual(size);
    }
  });

  test('continue after a reopening, and are ignored if they cannot be thawed', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    const before = await appendMany(journal, 20_000, [started]);
    await journal.close();
    const reopened = await open(realDisk, path, seen);
    expect(reopened.run).toEqual(before);
    let run = before;
    for (let at = 0; at < 20_000; at += 2000) {
      const events = Array.from({ length: 2000 }, (_, i) => woke(at + i));
      run = events.reduce<Seen>(seen.apply, run);
      await reopened.journal.append(events, run);
    }
    await reopened.journal.close();
    expect((await readRun(realDisk, path, seen)).run).toEqual(run);
    const thaw = () => {
      throw new Error('an older form');
    };
    expect((await readRun(realDisk, path, { ...seen, thaw })).run).toEqual(run);
  });

  test('become rarer as the state grows', async () => {
    const path = await newJournalPath();
    const filler = 'x'.repeat(600_000);
    const heavy = { ...seen, freeze: (run: Seen) => ({ ...run, filler }) };
    const journal = await create(realDisk, path, heavy);
    await journal.append([started], nothing);
    for (let at = 0; at < 100; at++)
      await journal.append([ended(at, 'y'.repeat(100_000))], nothing);
    await journal.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    const snapshots = lines.filter((line) => line.includes('"type":"snapshot"'));
    expect(snapshots.length).toBeGreaterThanOrEqual(3);
    expect(snapshots.length).toBeLessThanOrEqual(5);
  });

  test('let a run continue although its beginning is damaged', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    const run = await appendMany(journal, 20_000, [started]);
    await journal.close();
    const bytes = await readFile(path);
    bytes.fill(0, 2000, 3000);
    await writeFile(path, bytes);
    expect((await readRun(realDisk, path, seen)).run).toEqual(run);
    await expect(eventsOf(path)).rejects.toMatchObject({ code: 'journal-corrupt' });
  });
});
