import { appendFile, copyFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  alone,
  continued,
  create,
  ended,
  eventsOf,
  foldAll,
  keyBeside,
  linesOf,
  newJournalPath,
  seen,
  started,
  temporaryFolder,
  versionOne,
  woke,
  writeOwn,
} from '../../test/journal/fixtures.ts';
import { realDisk } from './disk.ts';
import { adoptJournal, openJournal } from './file-journal.ts';
import { chainAt, headFile, readHead, removeHead, removeLostHeads } from './heads.ts';
import { readRun } from './read-journal.ts';
import { salvage } from './salvage.ts';

const APPENDS = [[started, woke(2)], [woke(3)], [woke(4), ended(5, 'größe')], [woke(6)]];
const ALL = APPENDS.flat();

async function own(): Promise<string> {
  const path = await newJournalPath();
  await writeOwn(path, ...APPENDS);
  return path;
}

const read = (path: string, key = keyBeside(path)) => readRun(realDisk, path, seen, { key });

async function linesIn(path: string): Promise<readonly Buffer[]> {
  const text = await readFile(path, 'latin1');
  return text.split(/(?<=\n)/).map((line) => Buffer.from(line, 'latin1'));
}

async function headOf(path: string): Promise<string> {
  return headFile(keyBeside(path), (await chainAt(realDisk, path)) ?? '');
}

describe('a journal', () => {
  test('is the own one of the user who wrote it', async () => {
    const path = await own();
    expect(await read(path)).toMatchObject({ doubt: undefined, run: foldAll(ALL) });
    const { run, journal } = await continued(realDisk, path, seen);
    await journal.append([woke(7)], run);
    await journal.close();
    expect(await read(path)).toMatchObject({ doubt: undefined, run: foldAll([...ALL, woke(7)]) });
  });

  test('names every line that somebody else has written in its place', async () => {
    const path = await own();
    const lines = await linesIn(path);
    // The last event of an append has no mark, so only such lines can be replaced one by one.
    for (const index of [2, 4, 5]) {
      const forged = linesOf([woke(99)], index + 1);
      await writeFile(path, Buffer.concat(lines.with(index, forged)));
      const { doubt } = await read(path);
      expect(doubt).toEqual({
        why: `Line ${index + 1} of its journal was not written with your key, or not at this place.`,
        line: index + 1,
      });
    }
  });

  test('is not the own one with another key, without a key and without its end', async () => {
    const path = await own();
    const other = keyBeside(path, Buffer.alloc(32, 8));
    expect((await read(path, other)).doubt).toMatchObject({ line: 1 });
    const none = { ...keyBeside(path), derivedIfKnown: async () => undefined };
    expect((await read(path, none)).doubt?.why).toContain('You have no key here');
    await rm(await headOf(path));
    expect((await read(path)).doubt?.why).toContain('heads does not know it');
  });

  test('with an appended line is not the own one, and a torn line is cut off as before', async () => {
    const path = await own();
    await appendFile(path, linesOf([woke(7)], 7).subarray(0, -20));
    expect(await read(path)).toMatchObject({ doubt: undefined, run: foldAll(ALL) });
    await continued(realDisk, path, seen).then(({ journal }) => journal.close());
    await appendFile(path, linesOf([woke(7)], 7));
    expect((await read(path)).doubt).toMatchObject({ line: 7 });
  });

  test('that was cut after any append is refused, and so is an older copy', async () => {
    const path = await own();
    const lines = await linesIn(path);
    for (const kept of [2, 3, 5]) {
      await writeFile(path, Buffer.concat(lines.slice(0, kept)));
      await expect(read(path)).rejects.toMatchObject({
        code: 'journal-cut',
        message: expect.stringContaining(
          `ends with event ${kept}, but Raymond has already written`,
        ),
        remedy: expect.stringContaining('--salvage'),
      });
    }
  });

  test('may be longer than its remembered end, as after a power cut', async () => {
    const path = await newJournalPath();
    await writeOwn(path, [started]);
    const head = await headOf(path);
    const old = await readFile(head);
    const { run, journal } = await continued(realDisk, path, seen);
    await journal.append([woke(2)], run);
    await journal.append([woke(3)], run);
    await journal.close();
    await writeFile(head, old);
    expect(await read(path)).toMatchObject({ doubt: undefined, place: { seq: 3 } });
    // A reader that continues remembers the end again.
    await continued(realDisk, path, seen).then((opened) => opened.journal.close());
    expect(
      await readHead(realDisk, keyBeside(path), (await chainAt(realDisk, path)) ?? ''),
    ).toEqual({ seq: 3, mac: expect.any(String) });
  });

  test('survives a remembered end that was written by half', async () => {
    const path = await own();
    const head = await headOf(path);
    const whole = await readFile(head);
    for (const slot of [0, 49]) {
      const torn = Buffer.from(whole);
      torn.fill('x', slot + 10, slot + 30);
      await writeFile(head, torn);
      expect(await read(path)).toMatchObject({ doubt: undefined });
    }
  });

  test('of which another copy has continued is refused', async () => {
    const path = await own();
    const copy = join(dirname(path), 'copy.jsonl');
    await copyFile(path, copy);
    const goOn = async (file: string, ...more: readonly number[]) => {
      const { run, journal } = await continued(realDisk, file, seen);
      for (const at of more) await journal.append([woke(at)], run);
      await journal.close();
    };
    const old = await readFile(await headOf(path));
    await goOn(path, 7, 8);
    const head = await headOf(path);
    const newest = await readFile(head);
    await writeFile(head, old);
    await goOn(copy, 9, 10, 11);
    await writeFile(head, newest);
    await expect(read(copy)).rejects.toMatchObject({
      code: 'journal-cut',
      message: expect.stringContaining('Another copy of the run has continued'),
    });
  });

  test('is read from a snapshot only if the snapshot belongs to its chain', async () => {
    const long = 'x'.repeat(300_000);
    const journalWith = async (path: string) => {
      const journal = await create(realDisk, path, seen);
      await journal.append([started], foldAll([started]));
      const events = [started, ...Array.from({ length: 6 }, (_, n) => ended(n, long))];
      for (const [index, event] of events.entries())
        if (index > 0) await journal.append([event], foldAll(events.slice(0, index + 1)));
      await journal.close();
    };
    const path = await newJournalPath();
    await journalWith(path);
    const { snapshot, doubt } = await read(path);
    expect([snapshot === undefined, doubt]).toEqual([false, undefined]);
    const lines = await linesIn(path);
    const at = lines.findIndex((line) => line.includes('"type":"snapshot"'));
    const state = Buffer.from(lines[at] ?? '')
      .toString()
      .replace(/"count":\d+/, '"count":77');
    await writeFile(path, Buffer.concat(lines.with(at, Buffer.from(state))));
    await expect(read(path)).rejects.toMatchObject({ code: 'journal-corrupt', line: at + 1 });
  });

  test('of version 1 is never the own one, also beside the end of a chain', async () => {
    const path = await own();
    const [first = ''] = (await readFile(path, 'utf8')).split('\n');
    const chain = /"chain":"[0-9a-f]{32}"/.exec(first)?.[0];
    const old = versionOne([started], [woke(2)]);
    await writeFile(path, old);
    expect((await read(path)).doubt?.why).toContain('An older Raymond');
    await writeFile(path, old.replace('{', `{"seq":1,${chain},`));
    expect((await read(path)).doubt).toMatchObject({ line: 1 });
  });
});

describe('accepting', () => {
  test('writes a new file with a new chain, so a descriptor of the old one has no effect', async () => {
    const path = await newJournalPath();
    await writeFile(path, linesOf([started, woke(2)], 1));
    const held = await realDisk.open(path, 'change');
    const { journal } = await continued(realDisk, path, seen);
    await journal.close();
    await held.write(linesOf([woke(3)], 3), await held.size());
    await held.close();
    expect(await read(path)).toMatchObject({ doubt: undefined, place: { seq: 2 } });
  });

  test('is refused if the journal is no longer the one that was shown', async () => {
    const path = await newJournalPath();
    await writeFile(path, linesOf([started, woke(2)], 1));
    const shown = await openJournal(realDisk, path, seen, alone, keyBeside(path));
    if ('journal' in shown) throw new Error('It is of a stranger.');
    await writeFile(path, linesOf([started, woke(3)], 1));
    await expect(
      adoptJournal(realDisk, path, seen, alone, keyBeside(path), shown.digest),
    ).rejects.toMatchObject({ code: 'journal-changed' });
    expect(await readdir(join(dirname(path), 'heads'))).toEqual([]);
    expect((await read(path)).doubt).toBeDefined();
  });
});

describe('a salvage', () => {
  test.each([
    ['a line of somebody else', [3, 4] as const, 3],
    ['a line of somebody else at the end', [6, 7] as const, 6],
  ])('keeps only what the user wrote before %s', async (_, [after, seq], kept) => {
    const path = await own();
    const lines = await linesIn(path);
    const forged = linesOf([woke(99)], seq);
    await writeFile(path, Buffer.concat([...lines.slice(0, after), forged]));
    expect(await salvage(realDisk, path, seen, keyBeside(path))).toMatchObject({
      seq: kept,
      lostBytes: forged.length,
    });
    expect(await read(path)).toMatchObject({ doubt: undefined });
    expect(await eventsOf(path)).toEqual(ALL.slice(0, kept));
    expect(await readdir(join(dirname(path), 'heads'))).toHaveLength(1);
  });

  test('of a cut journal begins a new chain', async () => {
    const path = await own();
    const before = await chainAt(realDisk, path);
    const lines = await linesIn(path);
    await truncate(path, Buffer.concat(lines.slice(0, 3)).length);
    expect(await salvage(realDisk, path, seen, keyBeside(path))).toMatchObject({ seq: 3 });
    expect(await chainAt(realDisk, path)).not.toBe(before);
    expect(await read(path)).toMatchObject({ doubt: undefined, place: { seq: 3 } });
  });

  test('does not make a journal of somebody else the own one', async () => {
    const path = await newJournalPath();
    await writeFile(
      path,
      Buffer.concat([linesOf([started], 1), Buffer.from('x\n'), linesOf([woke(2)], 2)]),
    );
    expect(await salvage(realDisk, path, seen, keyBeside(path))).toMatchObject({ seq: 2 });
    expect((await read(path)).doubt).toBeDefined();
  });
});

describe('the end of a chain', () => {
  test('stays when a copy of its journal is removed, and goes with the journal itself', async () => {
    const path = await own();
    const id = (await chainAt(realDisk, path)) ?? '';
    const copy = join(await temporaryFolder(), 'demo-00000001.jsonl');
    await copyFile(path, copy);
    await removeHead(realDisk, keyBeside(path), id, copy);
    expect(await read(path)).toMatchObject({ doubt: undefined });
    await removeHead(realDisk, keyBeside(path), id, path);
    expect((await read(path)).doubt).toBeDefined();
  });

  test('goes some months after its project', async () => {
    const [kept, lost] = [await own(), await own()];
    const key = keyBeside(kept);
    await copyFile(await headOf(lost), join(key.heads, 'ab'.repeat(16)));
    await rm(lost);
    const [soon, later] = [Date.now(), Date.now() + 91 * 24 * 3_600_000];
    await removeLostHeads(realDisk, key, soon);
    expect(await readdir(key.heads)).toHaveLength(2);
    await removeLostHeads(realDisk, key, later);
    expect(await readdir(key.heads)).toHaveLength(1);
    expect(await read(kept)).toMatchObject({ doubt: undefined });
  });
});
