/**
 * The mailbox of a run in the database. Only those who may write to the database can post, and steps do
 * not get its URL. So messages need no seal.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { type Message, messageSchema } from '../model/message.ts';
import { unreachable } from '../model/unreachable.ts';
import { UserError } from '../model/user-error.ts';
import type { Mailbox, MailReader } from '../ports.ts';
import { CHANNEL } from './announcer.ts';
import type { Database, Queries } from './database.ts';
import { changesOf, type Notices } from './notices.ts';
import { noRun } from './run-errors.ts';
import { wake } from './run-row.ts';
import { codeOf } from './trouble.ts';

interface MailParts {
  readonly database: Database;
  readonly notices: Notices;
  readonly lookEveryMs: number;
}

export function postgresMailbox(parts: MailParts, id: string): Mailbox {
  const { database } = parts;
  return {
    post: (message) => post(database, id, message),
    messages: async () => (await mailOf(database, id)).map(({ message }) => message),
    read: (reader) => read(parts, id, reader),
  };
}

export interface Mail {
  /** To remove it in the transaction that stores what follows from it. */
  readonly id: string;
  readonly message: Message;
}

/** The messages that wait, in the order of their posting. */
export async function mailOf(
  queries: Queries,
  run: string,
  onTrouble: (text: string) => void = () => {},
): Promise<readonly Mail[]> {
  const rows = await queries.query<{ id: string; message: string }>(
    'select id::text, message from raymond.mail where run = $1 order by raymond.mail.id',
    [run],
  );
  return rows.flatMap(({ id, message: text }) => {
    const message = readMessage(text);
    if (!message) onTrouble('ignored a message that this Raymond does not know');
    return message ? [{ id, message }] : [];
  });
}

export async function removeMail(queries: Queries, ids: readonly string[]): Promise<void> {
  await queries.query('delete from raymond.mail where id = any($1::bigint[])', [ids]);
}

function readMessage(text: string): Message | undefined {
  try {
    return z.safeParse(messageSchema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function post(database: Database, id: string, message: Message): Promise<boolean> {
  try {
    return await database.transaction(async ({ query }) => {
      const posted = await query(
        `insert into raymond.mail (run, question, message) values ($1, $2, $3)
         on conflict (run, question) do nothing returning id`,
        [id, questionOf(message), JSON.stringify(message)],
      );
      await query('select pg_notify($1, $2)', [CHANNEL, `mail ${id}`]);
      await wake({ query }, id);
      return posted.length > 0;
    });
  } catch (error) {
    throw codeOf(error) === NO_SUCH_RUN ? noRun(id) : error;
  }
}

const NO_SUCH_RUN = '23503';

/** All answers to a question have the same one. Null for a message that answers nothing. */
function questionOf(message: Message): string | null {
  switch (message.kind) {
    case 'answer':
      return hashOf('answer', message.agent, message.askedAt);
    case 'permission':
      return hashOf('permission', message.agent, message.step, message.request);
    case 'stop':
      return null;
    default:
      return unreachable(message);
  }
}

/** A key of an index cannot be long. */
function hashOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function read(parts: MailParts, id: string, reader: MailReader): Promise<{ close(): void }> {
  const { database, notices, lookEveryMs } = parts;
  const over = new AbortController();
  const { signal } = over;
  const seen = new Set<string>();
  const reported = new Set<string>();
  const onTrouble = (text: string) => {
    if (!reported.has(text)) reader.onTrouble(text);
    reported.add(text);
  };
  // Not by a position: a transaction that posted earlier may commit later.
  const look = async () => {
    const mail = await mailOf(database.until(signal), id, onTrouble);
    for (const { id: number, message } of mail) {
      if (seen.has(number) || signal.aborted) continue;
      seen.add(number);
      reader.onMessage(message, () => removeMail(database, [number]));
    }
  };
  const changes = changesOf(notices, 'mail', id, { signal, lookEveryMs });
  const keepLooking = async () => {
    while (!signal.aborted) {
      await changes.next();
      if (signal.aborted) return;
      await look().catch((error) => {
        if (error instanceof UserError) onTrouble(`${error.message} ${error.remedy}`);
        else if (!signal.aborted) throw error;
      });
    }
  };
  await look();
  void keepLooking();
  return {
    close() {
      over.abort();
      changes.close();
    },
  };
}
