/**
 * How other processes reach a run: they put a message into its inbox folder, as a file that appears
 * complete. It stays there until the run has acted on it, so it outlives a crash of either side, and
 * a run that was not there to receive it finds it when it is resumed. Agents and scripts can write
 * into that folder, too: what is not sealed by the user's key is put aside.
 */
import { createHash, randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { UnusableFile } from '../files/regular-file.ts';
import { UserError } from '../model/user-error.ts';
import { type Disk, hasCode, makeFolder, readText, writeAll, writeBeside } from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';
import { type Message, openLetter, sealMessage } from './message.ts';
import type { UserKey } from './user-key.ts';

export interface InboxPlace {
  readonly disk: Disk;
  readonly folder: string;
  readonly run: string;
  readonly key: UserKey;
}

/** Resolves with true when the message is on disk; with false when its question has an answer already. */
export async function post(place: InboxPlace, message: Message): Promise<boolean> {
  const { disk, folder, run, key } = place;
  const letter = Buffer.from(await sealMessage(key, run, message));
  const path = join(folder, nameOf(message));
  try {
    await makeFolder(disk, folder);
    const complete = await writeBeside(disk, path, (file) => writeAll(file, letter, 0));
    try {
      return await putInPlace(place, complete, path);
    } finally {
      await disk.unlink(complete).catch(() => {});
    }
  } catch (error) {
    throw error instanceof UserError ? error : unwritable(folder, error);
  }
}

/** The messages that wait to be taken. */
export async function messagesIn(place: InboxPlace): Promise<readonly Message[]> {
  const { disk, folder } = place;
  if ((await disk.kind(folder)) !== 'folder') return [];
  const names = (await disk.list(folder)).filter(isMessageName).sort();
  const read = await Promise.all(names.map((name) => readMessage(place, join(folder, name))));
  return read.filter((message) => typeof message !== 'string');
}

export interface InboxWatch {
  /** Messages that are not done stay for the next one who watches. */
  close(): void;
}

export interface InboxReader {
  /** `done` is for when the message was acted on. */
  onMessage(message: Message, done: () => Promise<void>): void;
  /** A message was put aside, for the first time. */
  onRefused(path: string): void;
  /** No message can be read, for the first time. */
  onTrouble(trouble: UserError): void;
}

/**
 * Passes on each message once. Notice comes from the file system; where that fails, or forgets, a look
 * now and then finds the rest.
 */
export async function watchInbox(
  place: InboxPlace,
  reader: InboxReader,
  lookEveryMs = 2_000,
): Promise<InboxWatch> {
  const { disk, folder } = place;
  await makeFolder(disk, folder).catch((error) => {
    throw unwritable(folder, error);
  });
  const { onMessage, onRefused, onTrouble } = firstOnly(reader);
  const seen = new Set<string>();
  let closed = false;
  let looking = false;
  let lookAgain = false;

  const look = async () => {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    do {
      lookAgain = false;
      await lookOnce().catch((error) => {
        if (error instanceof UserError) onTrouble(error);
      });
    } while (lookAgain && !closed);
    looking = false;
  };
  const lookOnce = async () => {
    for (const name of (await disk.list(folder)).filter(isMessageName).sort()) {
      if (closed) return;
      if (seen.has(name)) continue;
      const path = join(folder, name);
      const message = await readMessage(place, path);
      if (message === 'unavailable' || closed) continue;
      if (message === 'refused') {
        await putAside(disk, path);
        onRefused(path);
      } else {
        seen.add(name);
        onMessage(message, () => removeDone(disk, path));
      }
    }
  };

  const stopNotice = notice(folder, look);
  const timer = setInterval(look, lookEveryMs);
  await look();
  return {
    close() {
      closed = true;
      clearInterval(timer);
      stopNotice();
    },
  };
}

/** A question has one name, so that of two answers one is the first. */
function nameOf(message: Message): string {
  if (message.kind !== 'answer')
    return `${String(Date.now()).padStart(15, '0')}-${randomUUID().slice(0, 8)}.json`;
  const agent = createHash('sha256').update(message.agent).digest('hex').slice(0, 16);
  return `answer-${message.askedAt}-${agent}.json`;
}

async function putInPlace(place: InboxPlace, complete: string, path: string): Promise<boolean> {
  const { disk } = place;
  for (let tries = 0; ; tries++) {
    try {
      await disk.link(complete, path);
      await disk.syncFolder(dirname(path));
      return true;
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || tries === MOST_TRIES) throw error;
    }
    const there = await readMessage(place, path);
    if (typeof there === 'object') return false;
    if (there === 'refused') await putAside(disk, path);
  }
}

/** Somebody who puts something in the way again and again is not outrun. */
const MOST_TRIES = 5;

/** Files that are still being written begin with a dot. */
function isMessageName(name: string): boolean {
  return name.endsWith('.json') && !name.startsWith('.');
}

/** An answer that a person wrote or piped in. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

async function readMessage(
  { disk, run, key }: InboxPlace,
  path: string,
): Promise<Message | 'refused' | 'unavailable'> {
  let letter: string | undefined;
  try {
    letter = await readText(disk, path, MAX_MESSAGE_BYTES);
  } catch (error) {
    return error instanceof UnusableFile ? 'refused' : 'unavailable';
  }
  if (letter === undefined) return 'unavailable';
  return (await openLetter(key, run, letter)) ?? 'refused';
}

async function putAside(disk: Disk, path: string): Promise<void> {
  await disk.rename(path, `${path}.${randomUUID().slice(0, 8)}.refused`).catch(() => {});
}

/** Whoever writes a thousand messages does not get a thousand lines. */
function firstOnly({ onMessage, onRefused, onTrouble }: InboxReader): InboxReader {
  const said = new Set<string>();
  const once = (what: string, say: () => void) => {
    if (!said.has(what)) say();
    said.add(what);
  };
  return {
    onMessage,
    onRefused: (path) => once('refused', () => onRefused(path)),
    onTrouble: (trouble) => once(trouble.code, () => onTrouble(trouble)),
  };
}

async function removeDone(disk: Disk, path: string): Promise<void> {
  try {
    await disk.unlink(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function notice(folder: string, look: () => void): () => void {
  try {
    const watcher = watch(folder, look);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}

function unwritable(folder: string, error: unknown): UserError {
  return new UserError(
    'inbox-unwritable',
    `Messages for the run cannot be put into ${folder}: ${reasonOf(error)}.`,
    `${cureOf(error)}, then try again.`,
  );
}
