import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { type Disk, realDisk } from './disk.ts';
import { type InboxMessage, post, watchInbox } from './inbox.ts';

const stop: InboxMessage = { kind: 'stop', how: 'drain', pid: 7 };
const answer = (text: string): InboxMessage => ({
  kind: 'answer',
  agent: 'main',
  askedAt: 5,
  text,
});
const NEVER_MS = 2 ** 30;

async function newInbox() {
  return join(await temporaryFolder(), 'runs', 'demo', 'inbox');
}

async function watched(folder: string, lookEveryMs = NEVER_MS, disk: Disk = realDisk) {
  const got: { readonly message: InboxMessage; readonly done: () => Promise<void> }[] = [];
  const onMessage = (message: InboxMessage, done: () => Promise<void>) =>
    got.push({ message, done });
  const watch = await watchInbox(disk, folder, onMessage, lookEveryMs);
  onTestFinished(() => watch.close());
  return { got, watch };
}

describe('an inbox', () => {
  test('passes on what was there before, in order', async () => {
    const folder = await newInbox();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, '000000000000002-a.json'), JSON.stringify(answer('second')));
    await writeFile(join(folder, '000000000000001-b.json'), JSON.stringify(answer('first')));
    await post(realDisk, folder, stop);
    const { got } = await watched(folder);
    expect(got.map(({ message }) => message)).toEqual([answer('first'), answer('second'), stop]);
  });

  test('notices what comes later, by notice of the file system', async () => {
    const folder = await newInbox();
    const { got } = await watched(folder);
    await post(realDisk, folder, answer('ä\n'));
    await vi.waitFor(() => expect(got.map(({ message }) => message)).toEqual([answer('ä\n')]));
  });

  test('passes on a message once, and keeps it until it is done', async () => {
    const folder = await newInbox();
    const { got, watch } = await watched(folder, 1);
    await post(realDisk, folder, stop);
    await vi.waitFor(() => expect(got).toHaveLength(1));
    await post(realDisk, folder, answer('later'));
    await vi.waitFor(() => expect(got).toHaveLength(2));
    expect(await readdir(folder)).toHaveLength(2);
    await got[0]?.done();
    await got[0]?.done();
    watch.close();

    const next = await watched(folder);
    expect(next.got.map(({ message }) => message)).toEqual([answer('later')]);
    await next.got[0]?.done();
    expect(await readdir(folder)).toEqual([]);
  });

  test('puts garbage aside and goes on', async () => {
    const folder = await newInbox();
    await mkdir(join(folder, '1.json'), { recursive: true });
    await writeFile(join(folder, '2.json'), '{"kind":');
    await writeFile(join(folder, '3.json'), '{"kind":"dance"}');
    await writeFile(join(folder, '.4.json'), JSON.stringify(stop));
    await writeFile(join(folder, '5.json'), JSON.stringify(stop));
    const { got } = await watched(folder);
    expect(got.map(({ message }) => message)).toEqual([stop]);
    expect((await readdir(folder)).sort()).toEqual([
      '.4.json',
      '1.json.garbage',
      '2.json.garbage',
      '3.json.garbage',
      '5.json',
    ]);
  });

  test('tries again what could not be read', async () => {
    const folder = await newInbox();
    await post(realDisk, folder, stop);
    let broken = true;
    const disk = guarded(realDisk, (operation) =>
      broken && operation === 'open' ? { error: diskError('EIO') } : undefined,
    );
    const { got } = await watched(folder, 1, disk);
    expect(got).toEqual([]);
    broken = false;
    await vi.waitFor(() => expect(got).toHaveLength(1));
  });

  test('is quiet after closing', async () => {
    const folder = await newInbox();
    const first = await watched(folder, 1);
    first.watch.close();
    const second = await watched(folder, 1);
    await post(realDisk, folder, stop);
    await vi.waitFor(() => expect(second.got).toHaveLength(1));
    expect(first.got).toEqual([]);
  });

  test('has the whole message or none when posting fails', async () => {
    const folder = await newInbox();
    const disk = guarded(realDisk, (operation) =>
      operation === 'write' ? { half: true, error: diskError('ENOSPC') } : undefined,
    );
    await expect(post(disk, folder, stop)).rejects.toMatchObject({ code: 'inbox-unwritable' });
    expect(await readdir(folder)).toEqual([]);
  });
});
