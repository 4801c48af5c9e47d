import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { diskError, guarded, type Operation } from '../../test/journal/door.ts';
import {
  create,
  ended,
  eventsOf,
  journalOf,
  newJournalPath,
  nothing,
  seen,
  started,
  unproven,
  woke,
} from '../../test/journal/fixtures.ts';
import { realDisk } from './disk.ts';
import { readRun } from './read-journal.ts';

describe('appending', () => {
  test('writes one line for each event, in a file that only the owner can read', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    await journal.append([started, woke(2)], nothing);
    await journal.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ type: 'run-started', version: 3 });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('shares one sync among appends that wait', async () => {
    const counts = new Map<Operation, number>();
    const disk = guarded(realDisk, (operation) => {
      counts.set(operation, (counts.get(operation) ?? 0) + 1);
      return undefined;
    });
    const journal = await create(disk, await newJournalPath(), seen);
    await journal.append([started], nothing);
    counts.clear();
    await Promise.all(Array.from({ length: 200 }, (_, i) => journal.append([woke(i)], nothing)));
    expect(counts.get('sync')).toBeLessThanOrEqual(3);
    // One for the lines, and one for the head.
    expect(counts.get('write')).toBeLessThanOrEqual(6);
  });

  test('resolves after the sync, not before', async () => {
    let synced = 0;
    const disk = guarded(realDisk, (operation) => {
      if (operation === 'sync') synced++;
      return undefined;
    });
    const journal = await create(disk, await newJournalPath(), seen);
    const seenSyncs: number[] = [];
    for (let i = 0; i < 3; i++) {
      await journal.append([i === 0 ? started : woke(i)], nothing);
      seenSyncs.push(synced);
    }
    // The first one is of the head of the new chain.
    expect(seenSyncs).toEqual([2, 3, 4]);
  });

  test('is refused for a new run whose id is in use', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    await journal.append([started], nothing);
    await expect(create(realDisk, path, seen)).rejects.toMatchObject({ code: 'run-exists' });
  });

  test.each([
    ['nothing at all', ''],
    ['a torn first line', '{"type":"run-sta'],
    ['the first part of a first append', journalOf([started, woke(2)]).subarray(0, -10)],
  ])('begins where a process has left %s', async (_, left) => {
    const path = await newJournalPath();
    await writeFile(path, left);
    const journal = await create(realDisk, path, seen);
    await journal.append([started], nothing);
    await journal.close();
    expect(await eventsOf(path)).toEqual([started]);
  });

  test('refuses an event that could not be read back, and all later ones', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    await journal.append([started], nothing);
    await expect(journal.append([woke(Number.NaN)], nothing)).rejects.toThrow();
    await expect(journal.append([woke(3)], nothing)).rejects.toThrow();
    await journal.close();
    expect(await eventsOf(path)).toEqual([started]);
  });

  test('is refused after closing', async () => {
    const journal = await create(realDisk, await newJournalPath(), seen);
    await journal.append([started], nothing);
    await journal.close();
    await journal.close();
    await expect(journal.append([woke(2)], nothing)).rejects.toThrow('closed');
  });
});

describe('a full disk', () => {
  const failing = (operation: Operation, half: boolean) => {
    let armed = false;
    const disk = guarded(realDisk, (now) =>
      armed && now === operation ? { half, error: diskError('ENOSPC') } : undefined,
    );
    return { disk, arm: () => (armed = true), disarm: () => (armed = false) };
  };

  test.each([
    ['write', false],
    ['write', true],
    ['sync', false],
  ] as const)('rejects and poisons the journal (%s, half written: %s)', async (operation, half) => {
    const { disk, arm, disarm } = failing(operation, half);
    const path = await newJournalPath();
    const journal = await create(disk, path, seen);
    await journal.append([started], nothing);
    arm();
    const results = await Promise.allSettled(
      [2, 3, 4].map((at) => journal.append([woke(at)], nothing)),
    );
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected']);
    disarm();
    await expect(journal.append([woke(5)], nothing)).rejects.toMatchObject({
      code: 'journal-unwritable',
      message: expect.stringContaining(path),
      remedy: 'Free some space, then run: raymond resume demo-00000001',
    });
    await journal.close();
    expect(await eventsOf(path)).toEqual([started]);
    expect(unproven(await readFile(path))).toBe(unproven(journalOf([started])));
  });

  test('at the start leaves no run behind', async () => {
    const { disk, arm } = failing('write', true);
    const path = await newJournalPath();
    const journal = await create(disk, path, seen);
    arm();
    await expect(journal.append([started], nothing)).rejects.toMatchObject({
      code: 'journal-unwritable',
      remedy: 'Free some space, then start the workflow again.',
    });
    await expect(readRun(realDisk, path, seen)).rejects.toMatchObject({ code: 'no-run' });
  });
});

describe('large events', () => {
  test('a line of many megabytes is read back', async () => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    const large = ended(2, 'x'.repeat(60 * 1024 * 1024));
    await journal.append([started, large], nothing);
    await journal.close();
    const [, back] = await eventsOf(path);
    expect(back?.type === 'agent-ended' && back.result.length).toBe(60 * 1024 * 1024);
  });

  test('a line beyond the limit is refused with a remedy', async () => {
    const journal = await create(realDisk, await newJournalPath(), seen);
    await expect(
      journal.append([started, ended(2, 'x'.repeat(65 * 1024 * 1024))], nothing),
    ).rejects.toMatchObject({ code: 'event-too-large' });
  });
});
