import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { testClock } from '../../test/journal/test-clock.ts';
import { patiently } from '../../test/patiently.ts';
import { type Disk, realDisk } from './disk.ts';
import { stateWriter } from './state-writer.ts';

async function newWriter(disk: Disk = realDisk, confirm = async () => {}) {
  const path = join(await temporaryFolder(), 'demo.json');
  const frozen: number[] = [];
  const errors: unknown[] = [];
  const { clock, calls, moveTo } = testClock();
  const writer = stateWriter<number>({
    disk,
    path,
    clock,
    confirm,
    freeze(run) {
      frozen.push(run);
      return { run };
    },
    report: (error) => errors.push(error),
  });
  const content = async () => JSON.parse(await readFile(path, 'utf8'));
  return { writer, frozen, errors, calls, moveTo, content };
}

test('the first run is written immediately, then only the newest after the pause', async () => {
  const { writer, frozen, calls, moveTo, content } = await newWriter();
  writer.update(1);
  await patiently(() => expect(calls.size).toBe(1));
  expect(await content()).toEqual({ run: 1 });
  for (let run = 2; run <= 1000; run++) writer.update(run);
  moveTo(999);
  expect(frozen).toEqual([1]);
  moveTo(1000);
  await patiently(async () => expect(await content()).toEqual({ run: 1000 }));
  expect(frozen).toEqual([1, 1000]);
  await writer.close();
});

test('the pause grows with the time that writing takes', async () => {
  let slow = () => {};
  const disk = guarded(realDisk, (operation) => {
    if (operation === 'sync') slow();
    return undefined;
  });
  const { writer, frozen, calls, moveTo } = await newWriter(disk);
  slow = () => moveTo(500);
  writer.update(1);
  await patiently(() => expect(calls.size).toBe(1));
  slow = () => {};
  writer.update(2);
  moveTo(10_499);
  expect(frozen).toEqual([1]);
  moveTo(10_500);
  await patiently(() => expect(frozen).toEqual([1, 2]));
  await writer.close();
});

test('there is one write at a time, and the newest run is in the file after closing', async () => {
  let open = 0;
  let most = 0;
  const disk = guarded(realDisk, (operation) => {
    if (operation === 'open') most = Math.max(most, ++open);
    if (operation === 'rename') open--;
    return undefined;
  });
  const { writer, calls, moveTo, content } = await newWriter(disk);
  writer.update(1);
  writer.update(2);
  moveTo(5000);
  await writer.close();
  expect(await content()).toEqual({ run: 2 });
  expect(most).toBe(1);
  expect(calls.size).toBe(0);
});

test('closing without a change writes nothing', async () => {
  const { writer, frozen } = await newWriter();
  await writer.close();
  expect(frozen).toEqual([]);
});

test('an error is reported, and the next write is tried', async () => {
  let full = true;
  const disk = guarded(realDisk, (operation) =>
    full && operation === 'write' ? { error: diskError('ENOSPC') } : undefined,
  );
  const { writer, errors, calls, moveTo, content } = await newWriter(disk);
  writer.update(1);
  await patiently(() => expect(calls.size).toBe(1));
  expect(errors).toHaveLength(1);
  full = false;
  moveTo(1000);
  writer.update(2);
  await writer.close();
  expect(errors).toHaveLength(1);
  expect(await content()).toEqual({ run: 2 });
});

test('nothing is written when the run belongs to another process', async () => {
  const lost = new Error('lost');
  const { writer, errors, content } = await newWriter(realDisk, () => Promise.reject(lost));
  writer.update(1);
  await writer.close();
  expect(errors).toEqual([lost]);
  await expect(content()).rejects.toThrow('ENOENT');
});
