/**
 * How other processes reach a run: they put a message into its inbox folder, as a file that appears
 * complete. It stays there until the run has acted on it, so it outlives a crash of either side, and
 * a run that was not there to receive it finds it when it is resumed.
 */
import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { UnusableFile } from '../files/regular-file.ts';
import { UserError } from '../model/user-error.ts';
import { type Disk, hasCode, makeFolder, readText, replaceFile } from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';

export const inboxMessageSchema = z.discriminatedUnion('kind', [
  /** `askedAt` names the question: an answer that comes twice finds it gone. */
  z.object({ kind: z.literal('answer'), agent: z.string(), askedAt: z.number(), text: z.string() }),
  /** `pid` is the process to be stopped: a later one that goes on with the run is not meant. */
  z.object({ kind: z.literal('stop'), how: z.enum(['drain', 'now']), pid: z.int() }),
]);
export type InboxMessage = z.infer<typeof inboxMessageSchema>;

/** Resolves when the message is on disk. */
export async function post(disk: Disk, folder: string, message: InboxMessage): Promise<void> {
  const time = String(Date.now()).padStart(15, '0');
  const name = `${time}-${randomUUID().slice(0, 8)}.json`;
  try {
    await makeFolder(disk, folder);
    await replaceFile(disk, join(folder, name), JSON.stringify(message));
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** The messages that wait to be taken, the oldest first. */
export async function messagesIn(disk: Disk, folder: string): Promise<readonly InboxMessage[]> {
  if ((await disk.kind(folder)) !== 'folder') return [];
  const names = (await disk.list(folder)).filter(isMessageName).sort();
  const read = names.map((name) => readMessage(disk, join(folder, name)));
  return (await Promise.all(read)).filter((message) => typeof message !== 'string');
}

export interface InboxWatch {
  /** Messages that are not done stay for the next one who watches. */
  close(): void;
}

/**
 * Passes on each message once, the oldest first. `done` is for when it was acted on. Notice comes from
 * the file system; where that fails, or forgets, a look now and then finds the rest.
 */
export async function watchInbox(
  disk: Disk,
  folder: string,
  onMessage: (message: InboxMessage, done: () => Promise<void>) => void,
  lookEveryMs = 2_000,
): Promise<InboxWatch> {
  await makeFolder(disk, folder).catch((error) => {
    throw unwritable(folder, error);
  });
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
      await lookOnce().catch(() => {});
    } while (lookAgain && !closed);
    looking = false;
  };
  const lookOnce = async () => {
    for (const name of (await disk.list(folder)).filter(isMessageName).sort()) {
      if (closed) return;
      if (seen.has(name)) continue;
      const path = join(folder, name);
      const message = await readMessage(disk, path);
      if (message === 'unavailable' || closed) continue;
      seen.add(name);
      if (message === 'garbage') await disk.rename(path, `${path}.garbage`).catch(() => {});
      else onMessage(message, () => removeDone(disk, path));
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

/** Files that are still being written begin with a dot. */
function isMessageName(name: string): boolean {
  return name.endsWith('.json') && !name.startsWith('.');
}

/** An answer that a person wrote or piped in. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

async function readMessage(
  disk: Disk,
  path: string,
): Promise<InboxMessage | 'garbage' | 'unavailable'> {
  let text: string | undefined;
  try {
    text = await readText(disk, path, MAX_MESSAGE_BYTES);
  } catch (error) {
    return error instanceof UnusableFile ? 'garbage' : 'unavailable';
  }
  if (text === undefined) return 'unavailable';
  try {
    return z.safeParse(inboxMessageSchema, JSON.parse(text)).data ?? 'garbage';
  } catch {
    return 'garbage';
  }
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
