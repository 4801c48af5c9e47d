/**
 * Each single operation of the disk fails, in every way. A run then finds every event whose append
 * had resolved, and nothing is left half done.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Disk, makeFolder, realDisk, replaceFile } from '../../src/journal/disk.ts';
import { createJournal, type FileJournal } from '../../src/journal/file-journal.ts';
import { readRun } from '../../src/journal/read-journal.ts';
import { salvage } from '../../src/journal/salvage.ts';
import type { RunEvent } from '../../src/model/event.ts';
import { UserError } from '../../src/model/user-error.ts';
import { inSuite } from '../long.ts';
import { diskError, guarded, hastyDisk, type Verdict } from './door.ts';
import {
  alone,
  continued,
  ended,
  eventsOf,
  foldAll,
  journalOf,
  keyBeside,
  linesOf,
  open,
  type Seen,
  seen,
  started,
  temporaryFolder,
  unproven,
  versionOne,
  woke,
} from './fixtures.ts';

const FAULTS = inSuite<readonly [string, Verdict]>(
  [
    ['ENOSPC', { error: diskError('ENOSPC') }],
    ['a short write', { half: true }],
    ['a short write, then ENOSPC', { half: true, error: diskError('ENOSPC') }],
  ],
  // They fail as ENOSPC does, only with another code.
  [
    ['EIO', { error: diskError('EIO') }],
    ['EROFS', { error: diskError('EROFS') }],
  ],
);

/** An append of one process, and whether it resolved. */
interface Attempt {
  readonly life: number;
  readonly events: readonly RunEvent[];
  safe: boolean;
}

describe.each(FAULTS)('%s', (_name, verdict) => {
  test.each([
    ['once', false],
    ['from then on', true],
  ])('at every operation, %s', async (_when, lasting) => {
    let failed = true;
    let k = 0;
    while (failed) {
      k++;
      failed = false;
      let operations = 0;
      const disk = guarded(hastyDisk, (operation) => {
        // Only a write can be half done; for other operations this fault would do nothing.
        if (verdict?.half && operation !== 'write') return undefined;
        if (lasting ? ++operations < k : ++operations !== k) return undefined;
        failed = true;
        return verdict;
      });
      const folder = join(await temporaryFolder(), 'state');
      const attempts = await twoLives(disk, folder);
      await checkWhatIsLeft(folder, attempts, `operation ${k}`);
      if (!lasting) expect(await temporaryFiles(folder), `operation ${k}`).toEqual([]);
    }
    expect(k).toBeGreaterThan(verdict?.half ? 6 : 30);
  });
});

test.each(FAULTS)('%s at every operation of a salvage', async (_name, verdict) => {
  const damaged = Buffer.concat([
    journalOf([started, woke(2)]),
    Buffer.from('rubbish\n'),
    linesOf([woke(4)], 4),
  ]);
  let failed = true;
  for (let k = 1; failed; k++) {
    failed = false;
    let operations = 0;
    const disk = guarded(hastyDisk, (operation) => {
      if (verdict?.half && operation !== 'write') return undefined;
      if (++operations !== k) return undefined;
      failed = true;
      return verdict;
    });
    const folder = await temporaryFolder();
    const path = join(folder, 'demo.jsonl');
    await writeFile(path, damaged);
    await writeFile(join(folder, 'demo.json'), '{"seq":4}');
    await salvage(disk, path, seen, keyBeside(path)).catch(onlyUserError);
    const left = await readFile(path);
    if (left.equals(damaged)) expect(await readdir(folder)).not.toContain('demo.jsonl.broken-1');
    else {
      expect(unproven(left), `operation ${k}`).toBe(unproven(journalOf([started, woke(2)])));
      expect(await readFile(`${path}.broken-1`)).toEqual(damaged);
    }
    expect(await temporaryFiles(folder), `operation ${k}`).toEqual([]);
    await salvage(realDisk, path, seen, keyBeside(path));
    const { run } = await open(realDisk, path, seen);
    expect(run, `operation ${k}`).toEqual(foldAll([started, woke(2)]));
  }
});

test.each(FAULTS)('%s at every operation of an upgrade', async (_name, verdict) => {
  const old = versionOne([started], [woke(2), woke(3)]);
  let failed = true;
  for (let k = 1; failed; k++) {
    failed = false;
    let operations = 0;
    const disk = guarded(hastyDisk, (operation) => {
      if (verdict?.half && operation !== 'write') return undefined;
      if (++operations !== k) return undefined;
      failed = true;
      return verdict;
    });
    const folder = await temporaryFolder();
    const path = join(folder, 'demo.jsonl');
    await writeFile(path, old);
    await continued(disk, path, seen).then(({ journal }) => journal.close(), onlyUserError);
    const left = await readFile(path);
    const isNew = unproven(left) === unproven(journalOf([started], [woke(2), woke(3)]));
    if (isNew) expect(await readFile(`${path}.old-1`, 'utf8')).toBe(old);
    else expect(left.toString(), `operation ${k}`).toBe(old);
    expect(await temporaryFiles(folder), `operation ${k}`).toEqual([]);
    const { run } = await open(realDisk, path, seen);
    expect(run, `operation ${k}`).toEqual(foldAll([started, woke(2), woke(3)]));
  }
});

const OLD = `${'old '.repeat(2000)}\n`;
const NEW = `${'new '.repeat(3000)}\n`;

/**
 * A run is started and continued. Then it is resumed and continued again. Errors are ignored, as a
 * careless caller would do.
 */
async function twoLives(disk: Disk, folder: string): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const path = join(folder, 'demo.jsonl');
  const state = join(folder, 'demo.json');
  const append = async (life: number, journal: FileJournal<Seen>, events: RunEvent[]) => {
    const attempt: Attempt = { life, events, safe: false };
    attempts.push(attempt);
    const after = foldAll(attempts.flatMap((one) => one.events));
    attempt.safe = await journal.append(events, after).then(() => true, onlyUserError);
  };
  const large = ended(9, 'x'.repeat(1_100_000));

  await makeFolder(disk, folder).catch(() => {});
  const first = await createJournal(disk, path, seen, alone, keyBeside(path)).catch(onlyUserError);
  if (first) {
    await append(1, first, [started]);
    await replaceFile(disk, state, OLD).catch(() => {});
    await Promise.all([
      append(1, first, [woke(2)]),
      append(1, first, [woke(3), woke(4), large]),
      append(1, first, [woke(5)]),
    ]);
    await append(1, first, [woke(6)]);
    await first.close().catch(() => {});
  }
  const second = await continued(disk, path, seen).catch(onlyUserError);
  if (second) {
    await append(2, second.journal, [woke(7), woke(8)]);
    await replaceFile(disk, state, NEW).catch(() => {});
    await append(2, second.journal, [ended(10, 'done')]);
    await second.journal.close().catch(() => {});
  }
  return attempts;
}

function onlyUserError(error: unknown): false {
  expect(error).toBeInstanceOf(UserError);
  return false;
}

async function checkWhatIsLeft(folder: string, attempts: readonly Attempt[], when: string) {
  const path = join(folder, 'demo.jsonl');
  const found = await eventsOrNone(path);
  let rest = found;
  const endedLives = new Set<number>();
  for (const { life, events, safe } of attempts) {
    const isThere = !endedLives.has(life) && rest.length > 0 && startsWith(rest, events);
    if (isThere) rest = rest.slice(events.length);
    else endedLives.add(life);
    if (safe) expect(isThere, `${when}: safe, but lost`).toBe(true);
  }
  expect(rest, `${when}: half an append, or one after a lost one`).toEqual([]);
  if (found.length > 0) {
    const { run, journal } = await continued(realDisk, path, seen);
    await journal.close();
    expect(run, when).toEqual(foldAll(found));
    expect((await readRun(realDisk, path, seen)).run, when).toEqual(foldAll(found));
  }
  const state = await readFile(join(folder, 'demo.json'), 'utf8').catch(() => OLD);
  expect([OLD, NEW], when).toContain(state);
}

async function eventsOrNone(path: string): Promise<RunEvent[]> {
  try {
    return await eventsOf(path);
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/no-run|journal-missing/) });
    return [];
  }
}

function startsWith(all: readonly RunEvent[], events: readonly RunEvent[]): boolean {
  return isDeepStrictEqual(all.slice(0, events.length), events);
}

async function temporaryFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith('.tmp'));
}
