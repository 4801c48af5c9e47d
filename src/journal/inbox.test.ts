import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { type Disk, realDisk } from './disk.ts';
import { type InboxPlace, messagesIn, post, watchInbox } from './inbox.ts';
import { type Message, sealMessage } from './message.ts';
import { userKey } from './user-key.ts';

const stop: Message = { kind: 'stop', how: 'drain', pid: 7 };
const answer = (text: string, askedAt = 5, agent = 'main'): Message => ({
  kind: 'answer',
  agent,
  askedAt,
  text,
});
const NEVER_MS = 2 ** 30;

async function newInbox(disk: Disk = realDisk): Promise<InboxPlace> {
  const root = await temporaryFolder();
  const key = userKey(realDisk, join(root, 'user', 'key'));
  return { disk, folder: join(root, 'runs', 'demo', 'inbox'), run: 'demo', key };
}

async function watched(place: InboxPlace, lookEveryMs = NEVER_MS) {
  const got: { readonly message: Message; readonly done: () => Promise<void> }[] = [];
  const said: string[] = [];
  const watch = await watchInbox(
    place,
    {
      onMessage: (message, done) => void got.push({ message, done }),
      onRefused: (path) => void said.push(path),
      onTrouble: ({ code }) => void said.push(code),
    },
    lookEveryMs,
  );
  onTestFinished(() => watch.close());
  return { got, said, watch, messages: () => got.map(({ message }) => message) };
}

async function plant(place: InboxPlace, name: string, text: string): Promise<void> {
  await mkdir(place.folder, { recursive: true });
  await writeFile(join(place.folder, name), text);
}

describe('an inbox', () => {
  test('passes on what was there before', async () => {
    const place = await newInbox();
    await post(place, answer('first', 1));
    await post(place, answer('second', 2));
    await post(place, stop);
    const { messages } = await watched(place);
    expect(messages()).toHaveLength(3);
    expect(messages()).toEqual(
      expect.arrayContaining([answer('first', 1), answer('second', 2), stop]),
    );
    expect(await messagesIn(place)).toEqual(messages());
  });

  test('notices what comes later, by notice of the file system', async () => {
    const place = await newInbox();
    const { messages } = await watched(place);
    await post(place, answer('ä\n'));
    await vi.waitFor(() => expect(messages()).toEqual([answer('ä\n')]));
  });

  test('passes on a message once, and keeps it until it is done', async () => {
    const place = await newInbox();
    const { got, watch } = await watched(place, 1);
    await post(place, stop);
    await vi.waitFor(() => expect(got).toHaveLength(1));
    await post(place, answer('later'));
    await vi.waitFor(() => expect(got).toHaveLength(2));
    expect(await readdir(place.folder)).toHaveLength(2);
    await got[0]?.done();
    await got[0]?.done();
    watch.close();

    const next = await watched(place);
    expect(next.messages()).toEqual([answer('later')]);
    await next.got[0]?.done();
    expect(await readdir(place.folder)).toEqual([]);
  });

  test('tries again what could not be read', async () => {
    let broken = true;
    const disk = guarded(realDisk, (operation) =>
      broken && operation === 'open' ? { error: diskError('EIO') } : undefined,
    );
    const place = await newInbox();
    await post(place, stop);
    const { got } = await watched({ ...place, disk }, 1);
    expect(got).toEqual([]);
    broken = false;
    await vi.waitFor(() => expect(got).toHaveLength(1));
  });

  test('is quiet after closing', async () => {
    const place = await newInbox();
    const first = await watched(place, 1);
    first.watch.close();
    const second = await watched(place, 1);
    await post(place, stop);
    await vi.waitFor(() => expect(second.got).toHaveLength(1));
    expect(first.got).toEqual([]);
  });

  test.each(['write', 'link'] as const)(
    'has the whole message or none when posting fails (%s)',
    async (failing) => {
      const place = await newInbox();
      const disk = guarded(realDisk, (operation) =>
        operation === failing
          ? { half: failing === 'write', error: diskError('ENOSPC') }
          : undefined,
      );
      await expect(post({ ...place, disk }, stop)).rejects.toMatchObject({
        code: 'inbox-unwritable',
      });
      expect(await readdir(place.folder)).toEqual([]);
    },
  );
});

describe('two answers to one question', () => {
  test('the first one counts', async () => {
    const place = await newInbox();
    expect(await post(place, answer('first'))).toBe(true);
    expect(await post(place, answer('second'))).toBe(false);
    expect(await post(place, answer('another question', 6))).toBe(true);
    expect(await post(place, answer('another agent', 5, 'other'))).toBe(true);
    const texts = (await messagesIn(place)).map((message) => 'text' in message && message.text);
    expect(texts.sort()).toEqual(['another agent', 'another question', 'first']);
  });

  test('of fifty at once exactly one is the first, and nothing else is left', async () => {
    const place = await newInbox();
    const wrote = await Promise.all(
      Array.from({ length: 50 }, (_, i) => post(place, answer(`${i}`))),
    );
    expect(wrote.filter(Boolean)).toHaveLength(1);
    expect(await messagesIn(place)).toEqual([answer(String(wrote.indexOf(true)))]);
    expect(await readdir(place.folder)).toHaveLength(1);
  });
});

describe('what no command of the user wrote', () => {
  const forgeries: readonly [string, (place: InboxPlace) => Promise<string>][] = [
    ['is not JSON', async () => '{"kind":'],
    ['has no seal', async () => JSON.stringify(answer('yes'))],
    [
      'has a made-up seal',
      async () => JSON.stringify({ message: JSON.stringify(answer('yes')), seal: 'ab'.repeat(32) }),
    ],
    ['is sealed for another run', ({ key }) => sealMessage(key, 'other', answer('yes'))],
    [
      'is sealed for something else',
      async ({ key }) => {
        const message = JSON.stringify(answer('yes'));
        return JSON.stringify({ message, seal: await key.seal('run', `demo\0${message}`) });
      },
    ],
    [
      'was changed after it was sealed',
      async ({ key }) => (await sealMessage(key, 'demo', answer('no'))).replace('no', 'yes'),
    ],
    [
      'is sealed by another key',
      async () => {
        const other = userKey(realDisk, join(await temporaryFolder(), 'key'));
        return sealMessage(other, 'demo', answer('yes'));
      },
    ],
  ];

  test.each(forgeries)('and %s is put aside', async (_, forge) => {
    const place = await newInbox();
    await place.key.seal('any', 'text');
    await plant(place, '1.json', await forge(place));
    const { messages, said } = await watched(place);
    expect(messages()).toEqual([]);
    expect(said).toEqual([join(place.folder, '1.json')]);
    expect(await readdir(place.folder)).toEqual([expect.stringMatching(/^1\.json\..*\.refused$/)]);
    expect(await messagesIn(place)).toEqual([]);
  });

  test('is put aside, too, where the user has no key', async () => {
    const place = await newInbox();
    await plant(place, '1.json', JSON.stringify({ message: JSON.stringify(stop), seal: '' }));
    const { messages, said } = await watched(place);
    expect(messages()).toEqual([]);
    expect(said).toHaveLength(1);
  });

  test('is told of once, and does not hold up what the user wrote', async () => {
    const place = await newInbox();
    for (let i = 0; i < 100; i++) await plant(place, `${i}.json`, JSON.stringify(answer('yes')));
    await mkdir(join(place.folder, 'folder.json'));
    await symlink('/dev/zero', join(place.folder, 'device.json'));
    await plant(place, '.draft.json', 'being written');
    await post(place, answer('mine'));
    const { messages, said } = await watched(place);
    expect(messages()).toEqual([answer('mine')]);
    expect(said).toHaveLength(1);
    const left = (await readdir(place.folder)).filter((name) => !name.endsWith('.refused'));
    expect(left).toHaveLength(2);
  });

  test.each(['before', 'while the run looks'])(
    'cannot take the place of an answer (%s)',
    async (when) => {
      const place = await newInbox();
      const model = await newInbox();
      await post(model, answer('model'));
      const [name = ''] = await readdir(model.folder);
      const early = when === 'before' ? undefined : await watched(place, 1);
      await plant(place, name, JSON.stringify(answer('forged')));
      if (early) await vi.waitFor(() => expect(early.said).toHaveLength(1));
      expect(await post(place, answer('mine'))).toBe(true);
      const { messages } = early ?? (await watched(place));
      await vi.waitFor(() => expect(messages()).toEqual([answer('mine')]));
    },
  );

  test('a key that cannot be used is told of once, and the message waits', async () => {
    const root = await temporaryFolder();
    const place = { ...(await newInbox()), key: userKey(realDisk, join(root, 'key')) };
    await post(place, stop);
    const good = await readFile(join(root, 'key'), 'utf8');
    await writeFile(join(root, 'key'), 'broken');
    const { messages, said } = await watched(
      { ...place, key: userKey(realDisk, join(root, 'key')) },
      1,
    );
    expect(messages()).toEqual([]);
    await writeFile(join(root, 'key'), good);
    await vi.waitFor(() => expect(messages()).toEqual([stop]));
    expect(said).toEqual(['user-key-unusable']);
  });
});
