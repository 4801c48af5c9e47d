import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { patiently } from '../../test/patiently.ts';
import type { Message } from '../model/message.ts';
import { type Disk, realDisk } from './disk.ts';
import { fileMailbox, type MailFolder } from './file-mailbox.ts';
import { writeLetter } from './letter.ts';
import { userKey } from './user-key.ts';

const stop: Message = { kind: 'stop', how: 'drain', pid: 7 };
const answer = (text: string, askedAt = 5, agent = 'main'): Message => ({
  kind: 'answer',
  agent,
  askedAt,
  text,
});
const NEVER_MS = 2 ** 30;

async function newMailbox(disk: Disk = realDisk): Promise<MailFolder> {
  const root = await temporaryFolder();
  const key = userKey(realDisk, join(root, 'user', 'key'));
  return { disk, folder: join(root, 'runs', 'demo', 'inbox'), run: 'demo', key };
}

async function watched(place: MailFolder, lookEveryMs = NEVER_MS) {
  const got: { readonly message: Message; readonly done: () => Promise<void> }[] = [];
  const said: string[] = [];
  const watch = await fileMailbox({ ...place, lookEveryMs }).read({
    onMessage: (message, done) => void got.push({ message, done }),
    onTrouble: (text) => void said.push(text),
  });
  onTestFinished(() => watch.close());
  return { got, said, watch, messages: () => got.map(({ message }) => message) };
}

async function plant(place: MailFolder, name: string, text: string): Promise<void> {
  await mkdir(place.folder, { recursive: true });
  await writeFile(join(place.folder, name), text);
}

describe('a mailbox', () => {
  test('delivers earlier messages', async () => {
    const place = await newMailbox();
    await fileMailbox(place).post(answer('first', 1));
    await fileMailbox(place).post(answer('second', 2));
    await fileMailbox(place).post(stop);
    const { messages } = await watched(place);
    expect(messages()).toEqual([answer('first', 1), answer('second', 2), stop]);
    expect(await fileMailbox(place).messages()).toEqual(messages());
  });

  test('keeps the order of posting when the clock is set back', async () => {
    const mail = await newMailbox();
    for (const [time, text] of [
      [2_000, 'first'],
      [1_000, 'second'],
      [1_500, 'third'],
    ] as const) {
      vi.spyOn(Date, 'now').mockReturnValue(time);
      await fileMailbox(mail).post(answer(text, time));
    }
    vi.restoreAllMocks();
    const texts = (await fileMailbox(mail).messages()).map((one) => 'text' in one && one.text);
    expect(texts).toEqual(['first', 'second', 'third']);
  });

  test('delivers later messages, by notification of the file system', async () => {
    const place = await newMailbox();
    const { messages } = await watched(place);
    await fileMailbox(place).post(answer('ä\n'));
    await patiently(() => expect(messages()).toEqual([answer('ä\n')]));
  });

  test('delivers a message once, and keeps it until the run has acted on it', async () => {
    const place = await newMailbox();
    const { got, watch } = await watched(place, 1);
    await fileMailbox(place).post(stop);
    await patiently(() => expect(got).toHaveLength(1));
    await fileMailbox(place).post(answer('later'));
    await patiently(() => expect(got).toHaveLength(2));
    expect(await readdir(place.folder)).toHaveLength(2);
    await got[0]?.done();
    await got[0]?.done();
    watch.close();

    const next = await watched(place);
    expect(next.messages()).toEqual([answer('later')]);
    await next.got[0]?.done();
    expect(await readdir(place.folder)).toEqual([]);
  });

  test('retries a message that could not be read', async () => {
    let broken = true;
    const disk = guarded(realDisk, (operation) =>
      broken && operation === 'open' ? { error: diskError('EIO') } : undefined,
    );
    const place = await newMailbox();
    await fileMailbox(place).post(stop);
    const { got } = await watched({ ...place, disk }, 1);
    expect(got).toEqual([]);
    broken = false;
    await patiently(() => expect(got).toHaveLength(1));
  });

  test('delivers nothing after closing', async () => {
    const place = await newMailbox();
    const first = await watched(place, 1);
    first.watch.close();
    const second = await watched(place, 1);
    await fileMailbox(place).post(stop);
    await patiently(() => expect(second.got).toHaveLength(1));
    expect(first.got).toEqual([]);
  });

  test.each(['write', 'link'] as const)(
    'has the whole message or none when posting fails (%s)',
    async (failing) => {
      const place = await newMailbox();
      const disk = guarded(realDisk, (operation) =>
        operation === failing
          ? { half: failing === 'write', error: diskError('ENOSPC') }
          : undefined,
      );
      await expect(fileMailbox({ ...place, disk }).post(stop)).rejects.toMatchObject({
        code: 'inbox-unwritable',
      });
      expect(await readdir(place.folder)).toEqual([]);
    },
  );
});

describe('two answers to one question', () => {
  test('the first one counts', async () => {
    const place = await newMailbox();
    expect(await fileMailbox(place).post(answer('first'))).toBe(true);
    expect(await fileMailbox(place).post(answer('second'))).toBe(false);
    expect(await fileMailbox(place).post(answer('another question', 6))).toBe(true);
    expect(await fileMailbox(place).post(answer('another agent', 5, 'other'))).toBe(true);
    const texts = (await fileMailbox(place).messages()).map(
      (message) => 'text' in message && message.text,
    );
    expect(texts.sort()).toEqual(['another agent', 'another question', 'first']);
  });

  test('of fifty at the same time exactly one is the first, and the others leave no file', async () => {
    const place = await newMailbox();
    const wrote = await Promise.all(
      Array.from({ length: 50 }, (_, i) => fileMailbox(place).post(answer(`${i}`))),
    );
    expect(wrote.filter(Boolean)).toHaveLength(1);
    expect(await fileMailbox(place).messages()).toEqual([answer(String(wrote.indexOf(true)))]);
    expect(await readdir(place.folder)).toHaveLength(1);
  });
});

describe('a message that no command of the user wrote', () => {
  const forgeries: readonly [string, (place: MailFolder) => Promise<string>][] = [
    ['is not JSON', async () => '{"kind":'],
    ['has no seal', async () => JSON.stringify(answer('yes'))],
    [
      'has a made-up seal',
      async () => JSON.stringify({ message: JSON.stringify(answer('yes')), seal: 'ab'.repeat(32) }),
    ],
    [
      'is sealed for another run',
      ({ key }) => writeLetter(key, 'other', { message: answer('yes'), place: 1 }),
    ],
    [
      'is sealed for something else',
      async ({ key }) => {
        const message = JSON.stringify(answer('yes'));
        return JSON.stringify({ message, seal: await key.seal('run', `demo\0${message}`) });
      },
    ],
    [
      'was changed after it was sealed',
      async ({ key }) =>
        (await writeLetter(key, 'demo', { message: answer('no'), place: 1 })).replace('no', 'yes'),
    ],
    [
      'is sealed by another key',
      async () => {
        const other = userKey(realDisk, join(await temporaryFolder(), 'key'));
        return writeLetter(other, 'demo', { message: answer('yes'), place: 1 });
      },
    ],
  ];

  test.each(forgeries)('and %s is put aside', async (_, forge) => {
    const place = await newMailbox();
    await place.key.seal('any', 'text');
    await plant(place, '1.json', await forge(place));
    const { messages, said } = await watched(place);
    expect(messages()).toEqual([]);
    expect(said).toEqual([expect.stringContaining(join(place.folder, '1.json'))]);
    expect(await readdir(place.folder)).toEqual([expect.stringMatching(/^1\.json\..*\.refused$/)]);
    expect(await fileMailbox(place).messages()).toEqual([]);
  });

  test('is put aside if the user has no key', async () => {
    const place = await newMailbox();
    await plant(place, '1.json', JSON.stringify({ message: JSON.stringify(stop), seal: '' }));
    const { messages, said } = await watched(place);
    expect(messages()).toEqual([]);
    expect(said).toHaveLength(1);
  });

  test('is reported once, and does not delay messages of the user', async () => {
    const place = await newMailbox();
    for (let i = 0; i < 100; i++) await plant(place, `${i}.json`, JSON.stringify(answer('yes')));
    await mkdir(join(place.folder, 'folder.json'));
    await symlink('/dev/zero', join(place.folder, 'device.json'));
    await plant(place, '.draft.json', 'being written');
    await fileMailbox(place).post(answer('mine'));
    const { messages, said } = await watched(place);
    expect(messages()).toEqual([answer('mine')]);
    expect(said).toHaveLength(1);
    const left = (await readdir(place.folder)).filter((name) => !name.endsWith('.refused'));
    expect(left).toHaveLength(2);
  });

  test.each(['before', 'while the run looks'])(
    'cannot take the place of an answer (%s)',
    async (when) => {
      const place = await newMailbox();
      const model = await newMailbox();
      await fileMailbox(model).post(answer('model'));
      const [name = ''] = await readdir(model.folder);
      const early = when === 'before' ? undefined : await watched(place, 1);
      await plant(place, name, JSON.stringify(answer('forged')));
      if (early) await patiently(() => expect(early.said).toHaveLength(1));
      expect(await fileMailbox(place).post(answer('mine'))).toBe(true);
      const { messages } = early ?? (await watched(place));
      await patiently(() => expect(messages()).toEqual([answer('mine')]));
    },
  );

  test('with an unusable key waits, and the error is reported once', async () => {
    const root = await temporaryFolder();
    const place = { ...(await newMailbox()), key: userKey(realDisk, join(root, 'key')) };
    await fileMailbox(place).post(stop);
    const good = await readFile(join(root, 'key'), 'utf8');
    await writeFile(join(root, 'key'), 'broken');
    const { messages, said } = await watched(
      { ...place, key: userKey(realDisk, join(root, 'key')) },
      1,
    );
    expect(messages()).toEqual([]);
    await writeFile(join(root, 'key'), good);
    await patiently(() => expect(messages()).toEqual([stop]));
    expect(said).toEqual([expect.stringContaining('cannot be used')]);
  });
});
