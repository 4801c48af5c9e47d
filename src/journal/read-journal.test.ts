import { appendFile, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import {
  ended,
  eventsOf,
  foldAll,
  newJournalPath,
  open,
  seen,
  started,
  woke,
} from '../../test/journal/fixtures.ts';
import type { RunEvent } from '../model/event.ts';
import { realDisk } from './disk.ts';
import { encodeEvents } from './journal-format.ts';
import { readRun } from './read-journal.ts';
import { salvage } from './salvage.ts';

async function written(path: string, appends: readonly (readonly RunEvent[])[]): Promise<void> {
  await writeFile(path, Buffer.concat(appends.map(encodeEvents)));
}

describe('opening', () => {
  test('any truncation gives whole appends from the beginning, and can be gone on with', async () => {
    const path = await newJournalPath();
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
    ['no JSON', 'rubbish'],
    ['a hole', '\0\0\0\0'],
    ['an unknown event', '{"type":"agent-danced","at":3}'],
    ['a field of the wrong type', '{"type":"agent-woke","at":"3","agent":"main"}'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xc3, 0x22])],
  ])('names the line in the middle that is %s, and leaves the file alone', async (_name, bad) => {
    const path = await newJournalPath();
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
    const path = await newJournalPath();
    await written(path, [[started]]);
    await appendFile(path, '{"type":"agent-danced","at":3}\n');
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ line: 2 });
  });

  test('salvage leaves a whole journal alone, and finds nothing in a lost one', async () => {
    const path = await newJournalPath();
    await written(path, [[started]]);
    expect(await salvage(realDisk, path, seen)).toBeUndefined();
    await writeFile(path, Buffer.concat([Buffer.from('\0\n'), encodeEvents([woke(2)])]));
    await expect(salvage(realDisk, path, seen)).rejects.toMatchObject({ code: 'journal-lost' });
    expect(await readdir(join(path, '..'))).toEqual(['demo-00000001.jsonl']);
  });

  test('salvage keeps every damaged file', async () => {
    const path = await newJournalPath();
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
    const path = await newJournalPath();
    await writeFile(path, content);
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ code });
  });

  test('tells a run that lost its journal from one that never was', async () => {
    const path = await newJournalPath();
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({ code: 'no-run' });
    await writeFile(path.replace('.jsonl', '.json'), '{}');
    await expect(open(realDisk, path, seen)).rejects.toMatchObject({
      code: 'journal-missing',
    });
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
