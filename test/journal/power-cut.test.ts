/**
 * The power is cut before each operation of the disk. Every event whose append had resolved, or
 * that was read and may have had consequences, still exists afterwards.
 */
import { expect, test } from 'vitest';
import type { Disk } from '../../src/journal/disk.ts';
import { createJournal } from '../../src/journal/file-journal.ts';
import { readRun } from '../../src/journal/read-journal.ts';
import { salvage } from '../../src/journal/salvage.ts';
import type { RunEvent } from '../../src/model/event.ts';
import { UserError } from '../../src/model/user-error.ts';
import { guarded } from './door.ts';
import {
  alone,
  continued,
  foldAll,
  journalOf,
  keyBeside,
  linesOf,
  nothing,
  seen,
  started,
  unproven,
  versionOne,
  woke,
} from './fixtures.ts';
import { MemoryDisk } from './memory-disk.ts';

const PATH = '/state/demo.jsonl';

/** The data that must survive a power cut at this moment. */
interface Safe {
  events: readonly RunEvent[];
}

/**
 * Runs a function on a disk; returns what a power cut would leave before each operation and at the
 * end.
 */
async function cuts(
  disk: MemoryDisk,
  play: (disk: Disk, safe: Safe) => Promise<void>,
): Promise<{ readonly left: MemoryDisk; readonly safe: Safe }[]> {
  const safe: Safe = { events: [] };
  const found: { left: MemoryDisk; safe: Safe }[] = [];
  const cut = () => found.push({ left: disk.afterPowerCut(), safe: { ...safe } });
  const watched = guarded(disk, (operation) => {
    if (operation !== 'read') cut();
    return undefined;
  });
  await play(watched, safe);
  cut();
  return found;
}

async function eventCount(disk: Disk): Promise<number> {
  try {
    return (await readRun(disk, PATH, seen)).run.count;
  } catch (error) {
    if (error instanceof UserError && /^(no-run|journal-empty)$/.test(error.code)) return 0;
    throw error;
  }
}

test('a new run keeps the appended events', async () => {
  const all = [started, woke(2), woke(3), woke(4)];
  const found = await cuts(new MemoryDisk(), async (disk, safe) => {
    const journal = await createJournal(disk, PATH, seen, alone, keyBeside(PATH));
    for (const [index, event] of all.entries()) {
      await journal.append([event], nothing);
      safe.events = all.slice(0, index + 1);
    }
    await journal.close();
  });
  for (const { left, safe } of found)
    expect(await eventCount(left)).toBeGreaterThanOrEqual(safe.events.length);
  expect(found.at(-1)?.safe.events).toHaveLength(all.length);
});

test('an opened run keeps the events that were read, even if their writer was killed before the sync', async () => {
  const disk = new MemoryDisk();
  const writer = await disk.open(PATH, 'create');
  const bytes = journalOf([started], [woke(2)]);
  await writer.write(bytes, 0);
  const found = await cuts(disk, async (watched, safe) => {
    const { run, journal } = await continued(watched, PATH, seen);
    expect(run).toEqual(foldAll([started, woke(2)]));
    safe.events = [started, woke(2)];
    await journal.append([woke(3)], run);
    safe.events = [started, woke(2), woke(3)];
    await journal.close();
  });
  for (const { left, safe } of found)
    expect(await eventCount(left)).toBeGreaterThanOrEqual(safe.events.length);
});

test('a torn tail that was cut off does not return', async () => {
  const torn = Buffer.concat([journalOf([started]), Buffer.from('{"seq":2,"ty')]);
  const found = await cuts(new MemoryDisk({ [PATH]: torn }), async (disk, safe) => {
    const { run, journal } = await continued(disk, PATH, seen);
    safe.events = [started];
    await journal.append([woke(2)], run);
    safe.events = [started, woke(2)];
    await journal.close();
  });
  for (const { left, safe } of found)
    expect(await eventCount(left)).toBeGreaterThanOrEqual(safe.events.length);
});

test.each([
  ['an upgrade', Buffer.from(versionOne([started], [woke(2)]))],
  [
    'a salvage',
    Buffer.concat([
      journalOf([started], [woke(2)]),
      Buffer.from('rubbish\n'),
      linesOf([woke(9)], 9),
    ]),
  ],
])('%s leaves the old file or the new one', async (_what, bytes) => {
  const found = await cuts(new MemoryDisk({ [PATH]: bytes }), async (disk) => {
    await salvage(disk, PATH, seen, keyBeside(PATH));
    const { journal } = await continued(disk, PATH, seen);
    await journal.close();
  });
  const whole = journalOf([started], [woke(2)]);
  for (const { left } of found)
    expect([bytes, whole].map(unproven)).toContain(unproven(left.content(PATH)));
  expect(unproven(found.at(-1)?.left.content(PATH))).toBe(unproven(whole));
});

test('a salvage keeps what it reports as kept', async () => {
  const bytes = Buffer.concat([
    journalOf([started], [woke(2)]),
    Buffer.from('rubbish\n'),
    linesOf([woke(9)], 9),
  ]);
  const disk = new MemoryDisk({ [PATH]: bytes });
  await salvage(disk, PATH, seen, keyBeside(PATH));
  const left = disk.afterPowerCut();
  expect(unproven(left.content(PATH))).toBe(unproven(journalOf([started], [woke(2)])));
  expect(left.content(`${PATH}.broken-1`)).toEqual(bytes);
});
