import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import {
  collected,
  create,
  ended,
  eventsOf,
  foldAll,
  journalOf,
  keyBeside,
  linesOf,
  newJournalPath,
  nothing,
  open,
  seen,
  started,
  versionOne,
  woke,
  writeOwn,
} from '../../test/journal/fixtures.ts';
import type { RunEvent } from '../model/event.ts';
import { throwawayChain } from './chain.ts';
import { realDisk } from './disk.ts';
import { draftSnapshot, encodeDrafts } from './journal-format.ts';
import { beginning } from './read-entries.ts';
import { readEvents, readRun } from './read-journal.ts';
import { salvage } from './salvage.ts';

async function written(path: string, appends: readonly (readonly RunEvent[])[]): Promise<void> {
  await rm(path, { force: true });
  await writeOwn(path, ...appends);
}

describe('opening', () => {
  test('any truncation gives whole appends from the beginning, and the journal can continue', async () => {
    const path = await newJournalPath();
    const event = fc
      .tuple(fc.nat(), fc.string({ unit: 'binary' }))
      .map(([at, text]) => ended(at, text));
    const appends = fc.array(fc.array(event, { minLength: 1, maxLength: 3 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(appends, fc.nat(), async (rest, where) => {
        const all = [[started], ...rest];
        const bytes = journalOf(...all);
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
    const fits = (count: number) => journalOf(...appends.slice(0, count)).length <= length;
    let count = 0;
    while (count < appends.length && fits(count + 1)) count++;
    return appends.slice(0, count).flat();
  }

  test.each([
    ['half a line', '{"seq":3,"type":"agent-wo'],
    ['a line without its newline', linesOf([woke(3)], 3).subarray(0, -1)],
    ['a hole after a power cut', '\0'.repeat(5000)],
    ['a hole that ends in a newline', `${'\0'.repeat(5000)}}\n`],
    ['a changed last line', withoutChecksum(linesOf([woke(3)], 3))],
    ['half an append', firstLine(linesOf([woke(3), woke(4)], 3))],
    ['half a character', Buffer.from('{"seq":3,"type":"ä').subarray(0, -1)],
  ])('cuts off %s', async (_name, tail) => {
    const path = await newJournalPath();
    await written(path, [[started], [woke(2)]]);
    const good = await readFile(path);
    await appendFile(path, tail);
    expect(await eventsOf(path)).toEqual([started, woke(2)]);
    const { run } = await open(realDisk, path, seen);
    expect(run).toEqual(foldAll([started, woke(2)]));
    expect(await readFile(path)).toEqual(good);
  });

  test.each([
    ['no JSON', 'rubbish\n', 'it has no checksum'],
    ['a hole', '\0\0\0\0\n', 'it has no checksum'],
    ['without a checksum', withoutChecksum(linesOf([woke(3)], 3)), 'it has no checksum'],
    ['changed', changed(linesOf([woke(3)], 3)), 'its checksum does not match'],
    ['doubled', linesOf([woke(2)], 2), 'it is event 2 again, where event 3 should be'],
    ['too late', linesOf([woke(4)], 4), 'it is event 4, but event 3 is missing before it'],
    ['a second beginning', linesOf([started], 3), 'run-started comes again'],
    [
      'a snapshot of another place',
      snapshot(5),
      'it is a snapshot after event 5, but the event before it is 2',
    ],
  ])(
    'names the line in the middle that is %s, and does not change the file',
    async (_name, bad, reason) => {
      const path = await newJournalPath();
      const damaged = Buffer.concat([
        journalOf([started], [woke(2)]),
        Buffer.from(bad),
        linesOf([woke(9)], 9),
      ]);
      await writeFile(path, damaged);
      await expect(open(realDisk, path, seen)).rejects.toMatchObject({
        code: 'journal-corrupt',
        line: 3,
        message: expect.stringContaining(`Line 3 of the journal ${path} is damaged: ${reason}.`),
        remedy: expect.stringContaining('resume demo-00000001 --salvage'),
      });
      expect(await readFile(path)).toEqual(damaged);

      const saved = await salvage(realDisk, path, seen, keyBeside(path));
      expect(saved).toMatchObject({ seq: 2, brokenFile: `${path}.broken-1` });
      expect(await readFile(`${path}.broken-1`)).toEqual(damaged);
      const { run, journal } = await open(realDisk, path, seen);
      expect(run).toEqual(foldAll([started, woke(2)]));
      await journal.append([woke(5)], run);
      expect(await eventsOf(path)).toEqual([started, woke(2), woke(5)]);
    },
  );

  test('names a snapshot inside an append', async () => {
    const path = await newJournalPath();
    const [first, second] = lines(journalOf([started, woke(2)]));
    await writeFile(path, `${first}${snapshot(1)}${second}`);
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ line: 2 });
  });

  test.each([
    ['at the end', ''],
    ['in the middle', linesOf([woke(3)], 3)],
  ])('takes a whole line that it does not know for a newer one: %s', async (_where, rest) => {
    const path = await newJournalPath();
    await written(path, [[started]]);
    await appendFile(path, sealed({ seq: 2, type: 'agent-danced', at: 3 }));
    await appendFile(path, rest);
    const refused = {
      code: 'journal-version',
      message: expect.stringContaining(
        `Line 2 of the journal ${path} was written by a newer Raymond`,
      ),
      remedy: expect.not.stringContaining('salvage'),
    };
    await expect(open(realDisk, path, seen)).rejects.toMatchObject(refused);
    await expect(salvage(realDisk, path, seen, keyBeside(path))).rejects.toMatchObject(refused);
  });

  test.each([
    [
      'a newer version',
      sealed({ seq: 1, ...started, version: 4 }),
      'journal-version',
      /written by a newer Raymond: it has version 4/,
    ],
    [
      'a newer version without checksums',
      JSON.stringify({ ...started, version: 9 }),
      'journal-version',
      /newer/,
    ],
    [
      'a first line that is no start',
      linesOf([woke(1)], 1),
      'journal-corrupt',
      /begins with run-started/,
    ],
    [
      'a changed first line',
      changed(journalOf([started])),
      'journal-corrupt',
      /checksum does not match/,
    ],
    [
      'a first line without its checksum',
      withoutChecksum(journalOf([started])),
      'journal-corrupt',
      /no checksum/,
    ],
    [
      'version 0',
      JSON.stringify({ ...started, version: 0 }),
      'journal-corrupt',
      /begins with run-started/,
    ],
    ['a snapshot at the beginning', snapshot(1), 'journal-corrupt', /begins with run-started/],
  ])('has its own error for %s, with a remedy that works', async (_name, first, code, message) => {
    const path = await newJournalPath();
    const firstLine = first.toString().trimEnd();
    await writeFile(path, `${firstLine}\n${linesOf([woke(2)], 2)}`);
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      remedy: expect.not.stringContaining('salvage'),
    });
    await expect(salvage(realDisk, path, seen, keyBeside(path))).rejects.toThrow();
    expect(await readdir(join(path, '..'))).toEqual(['demo-00000001.jsonl']);
  });

  test('distinguishes an empty journal from an emptied one', async () => {
    const path = await newJournalPath();
    await writeFile(path, '');
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ code: 'journal-empty' });
    await writeFile(path.replace('.jsonl', '.json'), '{}');
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({
      code: 'journal-emptied',
      message: expect.not.stringContaining('interrupted'),
    });
    await expect(salvage(realDisk, path, seen, keyBeside(path))).rejects.toMatchObject({
      code: 'journal-emptied',
    });
    await expect(create(realDisk, path, seen)).rejects.toMatchObject({ code: 'run-exists' });
  });

  test('notices missing last lines, by the state file', async () => {
    const path = await newJournalPath();
    const stateFile = path.replace('.jsonl', '.json');
    await written(path, [[started], [woke(2)]]);
    await writeFile(stateFile, JSON.stringify({ seq: 2 }));
    await open(realDisk, path, seen);
    await writeFile(stateFile, JSON.stringify({ seq: 4 }));
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({
      code: 'journal-cut',
      message: expect.stringMatching(/ends with event 2, but .* already shows event 4/),
      remedy: expect.stringContaining('--salvage'),
    });

    expect(await salvage(realDisk, path, seen, keyBeside(path))).toEqual({
      seq: 2,
      lostBytes: 0,
      brokenFile: undefined,
    });
    expect(JSON.parse(await readFile(`${stateFile}.broken-1`, 'utf8'))).toEqual({ seq: 4 });
    const { run } = await open(realDisk, path, seen);
    expect(run).toEqual(foldAll([started, woke(2)]));
    expect(JSON.parse(await readFile(stateFile, 'utf8'))).toEqual(run);
  });

  test.each([
    ['garbage', 'rubbish'],
    ['of the first release, without a number', '{"workflow_id":"demo-00000001"}'],
    ['of another form', '{"seq":"many"}'],
    ['behind', '{"seq":1}'],
  ])('is not disturbed by a state file that is %s', async (_name, text) => {
    const path = await newJournalPath();
    await written(path, [[started], [woke(2)]]);
    await writeFile(path.replace('.jsonl', '.json'), text);
    expect((await open(realDisk, path, seen)).run).toEqual(foldAll([started, woke(2)]));
  });

  test('salvage does not change an undamaged journal, and finds nothing in a lost one', async () => {
    const path = await newJournalPath();
    await written(path, [[started]]);
    expect(await salvage(realDisk, path, seen, keyBeside(path))).toBeUndefined();
    await writeFile(path, Buffer.concat([Buffer.from('\0\n'), linesOf([woke(2)], 2)]));
    await expect(salvage(realDisk, path, seen, keyBeside(path))).rejects.toMatchObject({
      code: 'journal-lost',
    });
    expect(await readdir(join(path, '..'))).toEqual(['demo-00000001.jsonl', 'heads']);
  });

  test('salvage loses no event to a damaged snapshot, a doubled append, or rubbish', async () => {
    const path = await newJournalPath();
    const doubled = linesOf([woke(2), woke(3)], 2);
    const bad = [changed(snapshot(3)), doubled, Buffer.from('rubbish\n')];
    await writeFile(
      path,
      Buffer.concat([journalOf([started]), doubled, ...bad, linesOf([woke(4)], 4)]),
    );
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ line: 4 });
    expect(await salvage(realDisk, path, seen, keyBeside(path))).toMatchObject({
      seq: 4,
      lostBytes: Buffer.concat(bad).length,
    });
    expect(await eventsOf(path)).toEqual([started, woke(2), woke(3), woke(4)]);
  });

  test('salvage keeps every damaged file', async () => {
    const path = await newJournalPath();
    for (let i = 0; i < 3; i++) {
      await writeFile(path, Buffer.concat([journalOf([started]), Buffer.from(`${i}\n`)]));
      await appendFile(path, linesOf([woke(2)], 3));
      await salvage(realDisk, path, seen, keyBeside(path));
    }
    expect((await readdir(join(path, '..'))).sort()).toEqual([
      'demo-00000001.jsonl',
      'demo-00000001.jsonl.broken-1',
      'demo-00000001.jsonl.broken-2',
      'demo-00000001.jsonl.broken-3',
    ]);
  });

  test('distinguishes a run without its journal from one that never existed', async () => {
    const path = await newJournalPath();
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ code: 'no-run' });
    await writeFile(path.replace('.jsonl', '.json'), '{}');
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({
      code: 'journal-missing',
    });
  });

  test('continues at its position, even if the file was rewritten meanwhile', async () => {
    const path = await newJournalPath();
    await writeFile(path, versionOne([started], [woke(2)]));
    const place = beginning();
    const news = async () =>
      (await collected(readEvents(realDisk, path, { place }))).map(({ seq }) => seq);
    expect(await news()).toEqual([1, 2]);
    expect(await news()).toEqual([]);
    const { run, journal } = await open(realDisk, path, seen);
    await journal.append([woke(3), woke(4)], run);
    expect(await news()).toEqual([3, 4]);
    await journal.append([woke(5)], run);
    expect(await news()).toEqual([5]);
  });

  test('reports a disk that cannot be read', async () => {
    const path = await newJournalPath();
    await written(path, [[started]]);
    const disk = guarded(realDisk, (operation, bytes) =>
      operation === 'read' && bytes > 0 ? { error: diskError('EIO') } : undefined,
    );
    await expect(readRun(disk, path, seen)).rejects.toMatchObject({ code: 'journal-unreadable' });
  });
});

const lines = (bytes: Buffer) => bytes.toString().split(/(?<=\n)/);

function firstLine(bytes: Buffer): string {
  return lines(bytes)[0] ?? '';
}

function withoutChecksum(line: Buffer): string {
  return line.toString().replace(/,"crc":"[0-9a-f]{8}"/, '');
}

/** Changes one bit of a digit, so that the line is still JSON. */
function changed(line: Buffer): Buffer {
  const copy = Buffer.from(line);
  const at = copy.toString().search(/(?<="(at|count)":)\d/);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Any line, with a matching checksum. */
function sealed(value: unknown): string {
  const covered = `${JSON.stringify(value).slice(0, -1)},"mac":"${'0'.repeat(22)}"`;
  return `${covered},"crc":"${crc32(covered).toString(16).padStart(8, '0')}"}\n`;
}

function snapshot(seq: number): Buffer {
  const draft = draftSnapshot(nothing, seq);
  if (!draft) throw new Error('A small state fits into a line.');
  return encodeDrafts([draft], throwawayChain());
}
