/**
 * A run's mailbox as a folder. A message is a file that appears complete. It stays in the folder until
 * the run has acted on it, so it survives a crash of either side. A stopped run finds it at its resume.
 * Agents and scripts can also write into that folder, so messages without a seal of the user's key are
 * set aside.
 *
 * Messages are delivered in the order of posting. Each letter gets a place after all letters that are
 * in the folder when it is written.
 */
import { createHash, randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { watchIfPossible } from '../files/changes.ts';
import { UnusableFile } from '../files/regular-file.ts';
import type { Message } from '../model/message.ts';
import { unreachable } from '../model/unreachable.ts';
import { UserError } from '../model/user-error.ts';
import type { Mailbox, MailReader } from '../ports.ts';
import { type Disk, hasCode, makeFolder, readText, writeAll, writeBeside } from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';
import { type Letter, openLetter, writeLetter } from './letter.ts';
import type { UserKey } from './user-key.ts';

export interface MailFolder {
  readonly disk: Disk;
  readonly folder: string;
  readonly run: string;
  readonly key: UserKey;
  /** How often to check for messages if the file system sends no notification. */
  readonly lookEveryMs?: number;
}

export function fileMailbox(mail: MailFolder): Mailbox {
  return {
    post: (message) => post(mail, message),
    messages: async () => (await lettersIn(mail)).map(({ message }) => message),
    read: (reader) => read(mail, reader),
  };
}

async function post(mail: MailFolder, message: Message): Promise<boolean> {
  const { disk, folder, run, key } = mail;
  const path = join(folder, nameOf(message));
  try {
    const last = (await lettersIn(mail)).at(-1)?.place ?? 0;
    const place = Math.max(Date.now(), last + 1);
    const letter = Buffer.from(await writeLetter(key, run, { message, place }));
    await makeFolder(disk, folder);
    const complete = await writeBeside(disk, path, (file) => writeAll(file, letter, 0));
    try {
      return await putInPlace(mail, complete, path);
    } finally {
      await disk.unlink(complete).catch(() => {});
    }
  } catch (error) {
    throw error instanceof UserError ? error : unwritable(folder, error);
  }
}

/** The file system notifies about new messages. A regular check finds those that it missed. */
async function read(mail: MailFolder, reader: MailReader): Promise<{ close(): void }> {
  const { disk, folder, lookEveryMs = 2_000 } = mail;
  await makeFolder(disk, folder).catch((error) => {
    throw unwritable(folder, error);
  });
  const onTrouble = once(reader.onTrouble);
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
        if (error instanceof UserError) onTrouble(error.code, `${error.message} ${error.remedy}`);
      });
    } while (lookAgain && !closed);
    looking = false;
  };
  const lookOnce = async () => {
    for (const { name, message } of await newLetters()) {
      if (closed) return;
      seen.add(name);
      reader.onMessage(message, () => removeDone(disk, join(folder, name)));
    }
  };
  /** Lists until nothing is new. While a folder is being listed, a later file can appear before an earlier one. */
  const newLetters = async () => {
    const found = new Map<string, NamedLetter>();
    for (;;) {
      const isNew = (name: string) => !seen.has(name) && !found.has(name);
      const letters = await lettersIn(mail, isNew, (path) =>
        onTrouble(
          'refused',
          `ignored a message that none of your commands wrote: see ${path}.*.refused`,
        ),
      );
      if (letters.length === 0) return inOrder([...found.values()]);
      for (const letter of letters) found.set(letter.name, letter);
    }
  };

  const stopNotice = watchIfPossible(folder, look);
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

interface NamedLetter extends Letter {
  readonly name: string;
}

/** The readable letters, in order. If `onRefused` is given, letters without a valid seal are set aside. */
async function lettersIn(
  mail: MailFolder,
  isWanted: (name: string) => boolean = () => true,
  onRefused?: (path: string) => void,
): Promise<readonly NamedLetter[]> {
  const { disk, folder } = mail;
  if ((await disk.kind(folder)) !== 'folder') return [];
  const letters: NamedLetter[] = [];
  for (const name of (await disk.list(folder)).filter(isMessageName).sort()) {
    if (!isWanted(name)) continue;
    const path = join(folder, name);
    const letter = await readLetter(mail, path);
    if (typeof letter === 'object') letters.push({ ...letter, name });
    if (letter !== 'refused' || !onRefused) continue;
    await putAside(disk, path);
    onRefused(path);
  }
  return inOrder(letters);
}

function inOrder(letters: readonly NamedLetter[]): readonly NamedLetter[] {
  return letters.toSorted((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1));
}

/** All answers to a question have the same name, so only one of them can be the first. Each person signs once. */
function nameOf(message: Message): string {
  switch (message.kind) {
    case 'answer':
      return `answer-${message.askedAt}-${hashOf(message.agent)}${message.signed ? `-${hashOf(message.signed.by)}` : ''}.json`;
    case 'permission':
      return `permission-${message.step}-${hashOf(message.agent)}-${hashOf(message.request)}.json`;
    case 'say':
      return `say-${hashOf(message.words)}.json`;
    case 'stop':
      return `${String(Date.now()).padStart(15, '0')}-${randomUUID().slice(0, 8)}.json`;
    default:
      return unreachable(message);
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

async function putInPlace(mail: MailFolder, complete: string, path: string): Promise<boolean> {
  const { disk } = mail;
  for (let tries = 0; ; tries++) {
    try {
      await disk.link(complete, path);
      await disk.syncFolder(dirname(path));
      return true;
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || tries === MOST_TRIES) throw error;
    }
    const present = await readLetter(mail, path);
    if (typeof present === 'object') return false;
    if (present === 'refused') await putAside(disk, path);
  }
}

/** Another process may create a file with this name repeatedly. */
const MOST_TRIES = 5;

/** The names of incomplete files begin with a dot. */
function isMessageName(name: string): boolean {
  return name.endsWith('.json') && !name.startsWith('.');
}

/** Enough for an answer that a person wrote or piped in. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

async function readLetter(
  { disk, run, key }: MailFolder,
  path: string,
): Promise<Letter | 'refused' | 'unavailable'> {
  let written: string | undefined;
  try {
    written = await readText(disk, path, MAX_MESSAGE_BYTES);
  } catch (error) {
    return error instanceof UnusableFile ? 'refused' : 'unavailable';
  }
  if (written === undefined) return 'unavailable';
  return (await openLetter(key, run, written)) ?? 'refused';
}

async function putAside(disk: Disk, path: string): Promise<void> {
  await disk.rename(path, `${path}.${randomUUID().slice(0, 8)}.refused`).catch(() => {});
}

/** Reports each kind of problem once, so that a thousand bad messages do not cause a thousand lines. */
function once(report: (text: string) => void): (kind: string, text: string) => void {
  const reported = new Set<string>();
  return (kind, text) => {
    if (!reported.has(kind)) report(text);
    reported.add(kind);
  };
}

async function removeDone(disk: Disk, path: string): Promise<void> {
  try {
    await disk.unlink(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function unwritable(folder: string, error: unknown): UserError {
  return new UserError(
    'inbox-unwritable',
    `Messages for the run cannot be written to ${folder}: ${reasonOf(error)}.`,
    `${cureOf(error)}, then try again.`,
  );
}
