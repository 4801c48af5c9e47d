import { appendFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { diskError, guarded, type Operation } from '../../test/journal/door.ts';
import {
  collected,
  ended,
  foldAll,
  type Seen,
  seen,
  started,
  temporaryFolder,
  woke,
} from '../../test/journal/fixtures.ts';
import type { RunEvent } from '../model/event.ts';
import { realDisk } from './disk.ts';
import { createJournal, type FileJournal, openJournal } from './file-journal.ts';
import { encodeEvents } from './journal-format.ts';
import { readEvents, readRun } from './read-journal.ts';
import { salvage } from './salvage.ts';

const create: typeof createJournal = async (disk, path, codec) =>
  closedLater(await createJournal(disk, path, codec));

const open: typeof openJournal = async (disk, path, codec) => {
  const opened = await openJournal(disk, path, codec);
  closedLater(opened.journal);
  return opened;
};

function closedLater<R>(journal: FileJournal<R>): FileJournal<R> {
  onTestFinished(() => journal.close());
  return journal;
}

const nothing: Seen = { count: 0, mix: 0 };

async function newPath(): Promise<string> {
  return join(await temporaryFolder(), 'demo-00000001.jsonl');
}

async function written(path: string, appends: readonly (readonly RunEvent[])[]): Promise<void> {
  await writeFile(path, Buffer.concat(appends.map(encodeEvents)));
}

const eventsOf = (path: string) => collected(readEvents(realDisk, path));

describe('appending', () => {
  test('is one line for each event, in a file of the owner alone', async () => {
    const path = await newPath();
    const journal = await create(realDisk, path, seen);
    await journal.append([started, woke(2)], nothing);
    await journal.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ type: 'run-started', version: 1 });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('shares one sync among appends that wait', async () => {
    const counts = new Map<Operation, number>();
    const disk = guarded(realDisk, (operation) => {
      counts.set(operation, (counts.get(operation) ?? 0) + 1);
      return undefined;
    });
    const journal = await create(disk, await newPath(), seen);
    await journal.append([started], nothing);
    counts.clear();
    await Promise.all(Array.from({ length: 200 }, (_, i) => journal.append([woke(i)], nothing)));
    expect(counts.get('sync')).toBeLessThanOrEqual(3);
    expect(counts.get('write')).toBeLessThanOrEqual(3);
  });

  test('resolves after the sync, not before', async () => {
    let synced = 0;
    const disk = guarded(realDisk, (operation) => {
      if (operation === 'sync') synced++;
      return undefined;
    });
    const journal = await create(disk, await newPath(), seen);
    const seenSyncs: number[] = [];
    for (let i = 0; i < 3; i++) {
      await journal.append([i === 0 ? started : woke(i)], nothing);
      seenSyncs.push(synced);
    }
    expect(seenSyncs).toEqual([1, 2, 3]);
  });

  test('of a new run is refused when the id is taken', async () => {
    const path = await newPath();
    await create(realDisk, path, seen);
    await expect(create(realDisk, path, seen)).rejects.toMatchObject({ code: 'run-exists' });
  });

  test('refuses an event that could not be read again, and everything after it', async () => {
    const path = await newPath();
    const journal = await create(realDisk, path, seen);
    await journal.append([started], nothing);
    await expect(journal.append([woke(Number.NaN)], nothing)).rejects.toThrow();
    await expect(journal.append([woke(3)], nothing)).rejects.toThrow();
    await journal.close();
    expect(await eventsOf(path)).toEqual([started]);
  });

  test('after closing is refused', async () => {
    const journal = await create(realDisk, await newPath(), seen);
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
    const path = await newPath();
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
      remedy: 'Free some space, then: raymond resume demo-00000001',
    });
    await journal.close();
    expect(await eventsOf(path)).toEqual([started]);
    expect(await readFile(path)).toEqual(encodeEvents([started]));
  });

  test('at the very start leaves no run behind', async () => {
    const { disk, arm } = failing('write', true);
    const path = await newPath();
    const journal = await create(disk, path, seen);
    arm();
    await expect(journal.append([started], nothing)).rejects.toMatchObject({
      code: 'journal-unwritable',
    });
    await expect(readRun(realDisk, path, seen)).rejects.toMatchObject({ code: 'no-run' });
  });
});

describe('opening', () => {
  test('any truncation gives whole appends from the beginning, and can be gone on with', async () => {
    const path = await newPath();
    const event = fc
      .tuple(fc.nat(), fc.string({ unit: 'binary' }))
      .map(([at, text]) => ended(at, text));
    const appends = fc.array(fc.array(event, { minLength: 1, maxLength: 3 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(appends, fc.nat(), async (rest, where) => {
        const all = [[started], ...rest];
        const bytes = Buffer.concat(all.map(encodeEvents));
        await writeFile(path, bytes);
        await truncate(path, where % (bytes.length + 1));
        const whole = wholeAppends(all, where % (bytes.length + 1));
        if (whole.length === 0) {
          await expect(open(realDisk, path, seen)).rejects.toMatchObject({
            code: 'journal-empty',
          });
          return;
        }
        const { run, journal } = await open(realDisk, path, seen);
        expect(run).toEqual(foldAll(whole));
        await journal.append([woke(99)], run);
        await journal.close();
        expect(await eventsOf(path)).toEqual([...whole, woke(99)]);
      }),
      { numRuns: 150 },
    );
  });

  function wholeAppends(appends: readonly (readonly RunEvent[])[], length: number): RunEvent[] {
    const whole: RunEvent[] = [];
    let end = 0;
    for (const append of appends) {
      end += encodeEvents(append).length;
      if (end > length) break;
      whole.push(...append);
    }
    return whole;
  }

  test.each([
    ['half a line', '{"type":"agent-wo'],
    ['a line without its newline', '{"type":"agent-woke","at":3,"agent":"main"}'],
    ['a hole after a power cut', '\0'.repeat(5000)],
    ['a hole that ends in a newline', `${'\0'.repeat(5000)}}\n`],
    ['half an append', '{"type":"agent-woke","at":3,"agent":"main","more":true}\n'],
    ['half a character', Buffer.from('{"type":"ä').subarray(0, -1)],
  ])('cuts off %s', async (_name, tail) => {
    const path = await newPath();
    await written(path, [[started], [woke(2)]]);
    const good = await readFile(path);
    await appendFile(path, tail);
    expect(await eventsOf(path)).toEqual([started, woke(2)]);
    const { run } = await open(realDisk, path, seen);
    expect(run).toEqual(foldAll([started, woke(2)]));
    expect(await readFile(path)).toEqual(good);
  });

  test.each([
    ['no JSON', 'rubbish'],
    ['a hole', '\0\0\0\0'],
    ['an unknown event', '{"type":"agent-danced","at":3}'],
    ['a field of the wrong type', '{"type":"agent-woke","at":"3","agent":"main"}'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xc3, 0x22])],
  ])('names the line in the middle that is %s, and leaves the file alone', async (_name, bad) => {
    const path = await newPath();
    const damaged = Buffer.concat([
      encodeEvents([started]),
      encodeEvents([woke(2)]),
      Buffer.from(bad),
      Buffer.from('\n'),
      encodeEvents([woke(4)]),
    ]);
    await writeFile(path, damaged);
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({
      code: 'journal-corrupt',
      line: 3,
      message: expect.stringContaining('Line 3'),
      remedy: expect.stringContaining('resume demo-00000001 --salvage'),
    });
    expect(await readFile(path)).toEqual(damaged);

    const saved = await salvage(realDisk, path, seen);
    expect(saved?.brokenFile).toBe(`${path}.broken-1`);
    expect(await readFile(`${path}.broken-1`)).toEqual(damaged);
    const { run, journal } = await open(realDisk, path, seen);
    expect(run).toEqual(foldAll([started, woke(2)]));
    await journal.append([woke(5)], run);
    expect(await eventsOf(path)).toEqual([started, woke(2), woke(5)]);
  });

  test('does not cut off a last line that only a newer Raymond understands', async () => {
    const path = await newPath();
    await written(path, [[started]]);
    await appendFile(path, '{"type":"agent-danced","at":3}\n');
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ line: 2 });
  });

  test('salvage leaves a whole journal alone, and finds nothing in a lost one', async () => {
    const path = await newPath();
    await written(path, [[started]]);
    expect(await salvage(realDisk, path, seen)).toBeUndefined();
    await writeFile(path, Buffer.concat([Buffer.from('\0\n'), encodeEvents([woke(2)])]));
    await expect(salvage(realDisk, path, seen)).rejects.toMatchObject({ code: 'journal-lost' });
    expect(await readdir(join(path, '..'))).toEqual(['demo-00000001.jsonl']);
  });

  test('salvage keeps every damaged file', async () => {
    const path = await newPath();
    for (let i = 0; i < 3; i++) {
      await writeFile(path, Buffer.concat([encodeEvents([started]), Buffer.from(`${i}\n`)]));
      await appendFile(path, encodeEvents([woke(2)]));
      await salvage(realDisk, path, seen);
    }
    expect((await readdir(join(path, '..'))).sort()).toEqual([
      'demo-00000001.jsonl',
      'demo-00000001.jsonl.broken-1',
      'demo-00000001.jsonl.broken-2',
      'demo-00000001.jsonl.broken-3',
    ]);
  });

  test.each([
    ['another version', `${JSON.stringify({ ...started, version: 2 })}\n`, 'journal-version'],
    ['a first line that is no start', encodeEvents([woke(1)]), 'journal-corrupt'],
    ['an empty file', '', 'journal-empty'],
  ])('has its own error for %s', async (_name, content, code) => {
    const path = await newPath();
    await writeFile(path, content);
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ code });
  });

  test('tells a run that lost its journal from one that never was', async () => {
    const path = await newPath();
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ code: 'no-run' });
    await writeFile(path.replace('.jsonl', '.json'), '{}');
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({
      code: 'journal-missing',
    });
  });

  test('reports a disk that cannot be read', async () => {
    const path = await newPath();
    await written(path, [[started]]);
    const disk = guarded(realDisk, (operation, bytes) =>
      operation === 'read' && bytes > 0 ? { error: diskError('EIO') } : undefined,
    );
    await expect(readRun(disk, path, seen)).rejects.toMatchObject({ code: 'journal-unreadable' });
  });
});

describe('large things', () => {
  test('a line of many megabytes is read back', async () => {
    const path = await newPath();
    const journal = await create(realDisk, path, seen);
    const large = ended(2, 'x'.repeat(60 * 1024 * 1024));
    await journal.append([started, large], nothing);
    await journal.close();
    const [, back] = await eventsOf(path);
    expect(back?.type === 'agent-ended' && back.result.length).toBe(60 * 1024 * 1024);
  });

  test('a line beyond the limit is refused, with what to do about it', async () => {
    const journal = await create(realDisk, await newPath(), seen);
    await expect(
      journal.append([started, ended(2, 'x'.repeat(65 * 1024 * 1024))], nothing),
    ).rejects.toMatchObject({ code: 'event-too-large' });
  });
});

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

  test('make the end of a long journal readable without its beginning', async () => {
    const path = await newPath();
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

  test('are found by a mere hint: a wrong one costs time, nothing else', async () => {
    const path = await newPath();
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

  test('go on after a reopening, and are not used when they cannot be thawed', async () => {
    const path = await newPath();
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
    const path = await newPath();
    const filler = 'x'.repeat(600_000);
    const heavy = { ...seen, freeze: (run: Seen) => ({ ...run, filler }) };
    const journal = await create(realDisk, path, heavy);
    await journal.append([started], nothing);
    for (let at = 0; at < 100; at++)
      await journal.append([ended(at, 'y'.repeat(100_000))], nothing);
    await journal.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    const snapshots = lines.filter((line) => line.startsWith('{"type":"snapshot"'));
    expect(snapshots.length).toBeGreaterThanOrEqual(3);
    expect(snapshots.length).toBeLessThanOrEqual(5);
  });

  test('let a run go on although its beginning is damaged', async () => {
    const path = await newPath();
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
