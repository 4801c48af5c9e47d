/**
 * The mailbox of a run in the database. Anyone who may write to the database can put a row into it, so a
 * message counts only with a seal of the user's key, like a letter in files. The seal names the run that has
 * the id now. An answer names its question, and a question is asked once. Only a stop could be posted
 * again, so the head of the run says which stops are over: see `Kept`.
 */
import { createHash } from 'node:crypto';
import { type Letter, openLetter, writeLetter } from '../journal/letter.ts';
import type { UserKey } from '../journal/user-key.ts';
import type { Message } from '../model/message.ts';
import { unreachable } from '../model/unreachable.ts';
import { UserError } from '../model/user-error.ts';
import type { Mailbox, MailReader } from '../ports.ts';
import { CHANNEL } from './announcer.ts';
import type { Database, Queries } from './database.ts';
import { type Head, keptOf } from './head.ts';
import { changesOf, type Notices } from './notices.ts';
import { noRun } from './run-errors.ts';
import { findRow, wake } from './run-row.ts';
import { codeOf } from './trouble.ts';

interface MailParts {
  readonly database: Database;
  readonly notices: Notices;
  readonly lookEveryMs: number;
  readonly key: UserKey;
}

export function postgresMailbox(parts: MailParts, id: string): Mailbox {
  const { database, key } = parts;
  return {
    post: (message) => post(database, key, id, message),
    async messages() {
      const row = await findRow(database, id);
      if (!row) return [];
      const { mail } = await openMail(await waitingMail(database, id), id, row, openedBy(key));
      return mail.map(({ message }) => message);
    },
    read: (reader) => read(parts, id, reader),
  };
}

/** Gives a letter if it counts. */
export type OpenLetter = (run: string, born: string, text: string) => Promise<Letter | undefined>;

/** The letters that a command of the user has written to this run, and not to an earlier one with its id. */
export const openedBy =
  (key: Pick<UserKey, 'isSealed'>): OpenLetter =>
  (run, born, text) =>
    openLetter(key, addressee(run, born), text);

const addressee = (run: string, born: string) => `${run} ${born}`;

export interface Mail extends Letter {
  /** To remove it in the transaction that stores what follows from it. */
  readonly id: string;
}

export interface MailRow {
  readonly id: string;
  readonly message: string;
}

/** The rows of a mailbox, in the order of their posting. */
export function waitingMail({ query }: Queries, run: string): Promise<readonly MailRow[]> {
  return query<MailRow>(
    `select id::text, message from raymond.mail where run = $1 and not refused
      order by raymond.mail.id`,
    [run],
  );
}

/** The messages in rows of a mailbox, and the ids of rows that are none. */
export async function openMail(
  rows: readonly MailRow[],
  run: string,
  head: Pick<Head, 'born' | 'kept'>,
  open: OpenLetter,
): Promise<{ readonly mail: readonly Mail[]; readonly refused: readonly string[] }> {
  const { stop } = rows.length > 0 ? keptOf(head) : { stop: 0 };
  const mail: Mail[] = [];
  const refused: string[] = [];
  for (const { id, message: text } of rows) {
    const letter = await open(run, head.born, text);
    const isOver = letter?.message.kind === 'stop' && letter.place <= stop;
    if (letter && !isOver) mail.push({ id, ...letter });
    else refused.push(id);
  }
  return { mail, refused };
}

export async function removeMail(queries: Queries, ids: readonly string[]): Promise<void> {
  await queries.query('delete from raymond.mail where id = any($1::bigint[])', [ids]);
}

/** Keeps rows that are no messages, so that people can look at them. They answer no question. */
export async function refuseMail(queries: Queries, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await queries.query(
    'update raymond.mail set refused = true, question = null where id = any($1::bigint[])',
    [ids],
  );
}

export const REFUSED_MAIL =
  'ignored a message that none of your commands wrote. It stays in the table raymond.mail as refused.';

async function post(
  database: Database,
  key: UserKey,
  id: string,
  message: Message,
): Promise<boolean> {
  const posting = database.transaction(async (queries) => {
    const { query } = queries;
    const row = await findRow(queries, id);
    if (!row) throw noRun(id);
    const open = openedBy(key);
    const [answered] = await query<{ id: string; message: string }>(
      'select id::text, message from raymond.mail where run = $1 and question = $2',
      [id, questionOf(message)],
    );
    if (answered && !(await open(id, row.born, answered.message)))
      await refuseMail(queries, [answered.id]);
    // After all stops that are over, whatever the clocks of their machines said.
    const letter = { message, place: Math.max(Date.now(), keptOf(row).stop + 1) };
    const posted = await query(
      `insert into raymond.mail (run, question, message) values ($1, $2, $3)
       on conflict (run, question) do nothing returning id`,
      [id, questionOf(message), await writeLetter(key, addressee(id, row.born), letter)],
    );
    await query('select pg_notify($1, $2)', [CHANNEL, `mail ${id}`]);
    await wake(queries, id);
    return posted.length > 0;
  });
  return posting.catch((error) => {
    throw codeOf(error) === NO_SUCH_RUN ? noRun(id) : error;
  });
}

const NO_SUCH_RUN = '23503';

/** All answers to a question have the same one. Null for a message that answers nothing. */
function questionOf(message: Message): string | null {
  switch (message.kind) {
    case 'answer':
      return message.signed
        ? hashOf('signed', message.agent, message.askedAt, message.signed.by)
        : hashOf('answer', message.agent, message.askedAt);
    case 'permission':
      return hashOf('permission', message.agent, message.step, message.request);
    case 'say':
      return hashOf('say', message.words);
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
  const { database, notices, lookEveryMs, key } = parts;
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
    const queries = database.until(signal);
    const row = await findRow(queries, id);
    if (!row) return;
    const rows = await waitingMail(queries, id);
    const { mail, refused } = await openMail(rows, id, row, openedBy(key));
    await refuseMail(queries, refused);
    if (refused.length > 0) onTrouble(REFUSED_MAIL);
    for (const { id: number, message } of mail) {
      if (seen.has(number) || signal.aborted) continue;
      seen.add(number);
      reader.onMessage(message, () => removeMail(database, [number]));
    }
  };
  const changes = changesOf(notices, ['mail'], id, { signal, lookEveryMs });
  const keepLooking = async () => {
    for await (const _ of changes)
      await look().catch((error) => {
        if (error instanceof UserError) onTrouble(`${error.message} ${error.remedy}`);
        else if (!signal.aborted) throw error;
      });
  };
  await changes.next();
  await look();
  void keepLooking();
  return { close: () => over.abort() };
}
