/** A process that has lost a run writes nothing more. */
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { guarded, type Operation } from '../../test/journal/door.ts';
import {
  alone,
  create,
  eventsOf,
  foldAll,
  journalOf,
  newJournalPath,
  nothing,
  open,
  seen,
  started,
  unproven,
  woke,
} from '../../test/journal/fixtures.ts';
import { testClock } from '../../test/journal/test-clock.ts';
import { watchOwnership } from '../host/watch-ownership.ts';
import { RunLost } from '../model/run-lost.ts';
import { realDisk } from './disk.ts';
import type { Ownership } from './file-journal.ts';
import { takeLock } from './lock.ts';
import { lockRemoved } from './lock-errors.ts';

describe('a journal', () => {
  test.each([
    ['was removed', (path: string) => rm(path)],
    ['was moved away', (path: string) => rename(path, `${path}.x`)],
    ['was removed with its folder', (path: string) => rm(dirname(path), { recursive: true })],
    [
      'was replaced by a copy',
      async (path: string) => {
        const bytes = await readFile(path);
        await rm(path);
        await writeFile(path, bytes);
      },
    ],
  ])('that %s takes no append, and is left as it is', async (_how, harm) => {
    const path = await newJournalPath();
    const journal = await create(realDisk, path, seen);
    await journal.append([started], nothing);
    await harm(path);
    const left = await readFile(path).catch(() => undefined);
    await expect(journal.append([woke(2)], nothing)).rejects.toMatchObject({
      code: 'journal-gone',
      message: expect.stringContaining('was removed or replaced while the run was working'),
    });
    await expect(journal.append([woke(3)], nothing)).rejects.toBeInstanceOf(RunLost);
    await journal.close();
    expect(await readFile(path).catch(() => undefined)).toEqual(left);
  });

  test('whose lock is lost accepts no append, and keeps the lines of another process', async () => {
    const path = await newJournalPath();
    let isLost = false;
    const owner: Ownership = {
      ...alone,
      async confirm() {
        if (isLost) throw lockRemoved('/runs/demo/lock', 'lock.1');
      },
    };
    const journal = await create(realDisk, path, seen, owner);
    await journal.append([started], nothing);
    isLost = true;
    const { run, journal: theirs } = await open(realDisk, path, seen);
    await theirs.append([woke(2)], run);
    await expect(journal.append([woke(3)], nothing)).rejects.toMatchObject({ code: 'lock-lost' });
    await theirs.append([woke(4)], run);
    expect(await eventsOf(path)).toEqual([started, woke(2), woke(4)]);
  });

  test('looks at the disk three times for each append', async () => {
    const looks: Operation[] = [];
    const disk = guarded(realDisk, (operation) => {
      looks.push(operation);
      return undefined;
    });
    const path = await newJournalPath();
    const lock = await takeLock(disk, join(dirname(path), 'lock'), lockWorld());
    const journal = await create(disk, path, seen, lock);
    await journal.append([started], nothing);
    looks.length = 0;
    await journal.append([woke(2)], nothing);
    expect(looks).toEqual(['identity', 'identity', 'identity', 'write', 'sync', 'write']);
    await lock.release();
  });

  test('rejects an append during which the process slept and lost the run', async () => {
    const path = await newJournalPath();
    let [isStale, confirmed] = [false, 0];
    const owner: Ownership = {
      ...alone,
      needsConfirming: () => isStale,
      async confirm() {
        if (++confirmed === 3) throw lockRemoved('/runs/demo/lock', 'lock.1');
      },
    };
    const journal = await create(realDisk, path, seen, owner);
    await journal.append([started], nothing);
    isStale = true;
    await expect(journal.append([woke(2)], nothing)).rejects.toMatchObject({ code: 'lock-lost' });
  });

  test('that is taken over from a silent owner becomes a new file, which the old owner cannot write', async () => {
    const path = await newJournalPath();
    const first = await create(realDisk, path, seen);
    await first.append([started, woke(2)], nothing);
    const before = await stat(path);
    const silent = { pid: 7, started: 'x', boot: 'y' };
    const { run, journal } = await open(realDisk, path, seen, { ...alone, silent });
    expect(run).toEqual(foldAll([started, woke(2)]));
    expect((await stat(path)).ino).not.toBe(before.ino);
    expect(unproven(await readFile(path))).toBe(unproven(journalOf([started, woke(2)])));
    await expect(first.append([woke(3)], nothing)).rejects.toMatchObject({ code: 'journal-gone' });
    await journal.append([woke(4)], run);
    expect(await eventsOf(path)).toEqual([started, woke(2), woke(4)]);
  });
});

describe('the watch', () => {
  test('reports once that the run is lost, and ignores other errors', async () => {
    const { clock, moveTo, calls } = testClock();
    const outcomes = [undefined, new Error('EIO'), undefined, lockRemoved('/r/l', 'lock.1')];
    const losses: RunLost[] = [];
    watchOwnership(
      clock,
      async () => {
        const outcome = outcomes.shift();
        if (outcome) throw outcome;
      },
      (loss) => losses.push(loss),
    );
    for (let time = 2_000; time <= 20_000; time += 2_000) {
      moveTo(time);
      await new Promise(setImmediate);
    }
    expect(losses).toMatchObject([{ code: 'lock-lost' }]);
    expect(calls.size).toBe(0);
  });

  test('ends', async () => {
    const { clock, moveTo, calls } = testClock();
    const losses: RunLost[] = [];
    const end = watchOwnership(
      clock,
      () => Promise.reject(lockRemoved('/r/l', 'lock.1')),
      (loss) => losses.push(loss),
    );
    moveTo(2_000);
    end();
    await new Promise(setImmediate);
    expect(losses).toEqual([]);
    expect(calls.size).toBe(0);
  });
});

function lockWorld() {
  const self = { pid: 1, started: 'a', boot: 'b', space: 'c', host: 'd' };
  return { self, clock: testClock().clock, isAlive: () => true, report: () => {} };
}
