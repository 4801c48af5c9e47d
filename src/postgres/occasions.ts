/** The ledger of occasions in a database. Any number of workers keep the same triggers with it. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isOpen, type OccasionRecord, type TriggerKey } from '../model/trigger.ts';
import { occasionRecordSchema } from '../model/trigger-schema.ts';
import type { Occasions } from '../ports.ts';
import type { Database } from './database.ts';
import { listenTo } from './notices.ts';

export interface PostgresOccasions extends Occasions {
  /** Lets workers keep the triggers of a directory. */
  register(directory: string): Promise<void>;
  registered(): Promise<readonly string[]>;
}

/** `keeps`: how many final occasions of a trigger are kept. */
export function postgresOccasions(database: Database, keeps = MOST_SETTLED): PostgresOccasions {
  const { query } = database;
  const notices = listenTo(database);
  /** A process decides about one trigger after the other, so it needs one connection for that. */
  let before: Promise<unknown> = Promise.resolve();

  const records = async (where: string, values: readonly unknown[]) =>
    (await query<{ record: string }>(`select record from raymond.occasions ${where}`, values)).map(
      ({ record }) => readRecord(record),
    );

  return {
    async record(occasion, payload, outcome = { kind: 'due' }) {
      const { id, trigger } = occasion;
      const rows = await database.repeatable(async (queries) => {
        const added = await queries.query(
          `insert into raymond.occasions (id, project, trigger, record, payload, is_open)
           values ($1, $2, $3, $4, $5, $6) on conflict (id) do nothing returning id`,
          [
            ...[id, trigger.project, keyText(trigger), JSON.stringify({ occasion, outcome })],
            ...[payload === undefined ? null : JSON.stringify(payload), isOpen(outcome)],
          ],
        );
        if (added.length > 0) queries.announce(`occasions ${keyText(trigger)}`.slice(0, 200));
        return added;
      }, AbortSignal.timeout(RECORD_MS));
      return rows.length > 0 ? 'recorded' : 'known';
    },
    async settle(occasion, outcome) {
      await query(
        `update raymond.occasions set record = $2, is_open = $3 where id = $1 and is_open`,
        [occasion.id, JSON.stringify({ occasion, outcome }), isOpen(outcome)],
      );
      if (!isOpen(outcome))
        await query(
          `delete from raymond.occasions where trigger = $1 and not is_open and seq <
             (select min(seq) from (select seq from raymond.occasions where trigger = $1 and not is_open
                order by seq desc limit $2) newest)`,
          [keyText(occasion.trigger), keeps],
        );
    },
    find: async (trigger, id) =>
      (await records('where id = $1 and trigger = $2', [id, keyText(trigger)]))[0],
    open: (trigger) => records('where trigger = $1 and is_open order by seq', [keyText(trigger)]),
    newest: (of, most) =>
      'name' in of
        ? records('where trigger = $1 order by seq desc limit $2', [keyText(of), most])
        : records('where project = $1 order by seq desc limit $2', [of.project, most]),
    async payload({ id }) {
      const [row] = await query<{ payload: string | null }>(
        'select payload from raymond.occasions where id = $1',
        [id],
      );
      // JSON, because a text of PostgreSQL has no NUL character.
      return row?.payload ? String(JSON.parse(row.payload)) : undefined;
    },
    async keptSince(trigger, now) {
      const values = [keyText(trigger), now];
      await query('insert into raymond.triggers values ($1, $2) on conflict do nothing', values);
      const [row] = await query<{ since: string }>(
        'select since from raymond.triggers where trigger = $1',
        values.slice(0, 1),
      );
      return Number(row?.since ?? now);
    },
    alone(trigger, use) {
      const turn = before.then(() => whileLocked(database, keyText(trigger), use));
      before = turn.catch(() => {});
      return turn;
    },
    watch: (_project, changed) => notices.on('occasions', undefined, () => changed()),
    register: async (directory) => {
      await query('insert into raymond.triggered values ($1) on conflict do nothing', [directory]);
    },
    registered: async () =>
      (
        await query<{ directory: string }>(
          'select directory from raymond.triggered order by directory',
        )
      ).map(({ directory }) => directory),
  };
}

/** The newest final occasions of a trigger. */
const MOST_SETTLED = 1_000;
const PAUSE_MS = 100;
/** Senders wait for about ten seconds. Without the database, they must be told to come again. */
const RECORD_MS = 5_000;

const keyText = ({ project, workflow, name }: TriggerKey) =>
  JSON.stringify([project, workflow, name]);

function readRecord(text: string): OccasionRecord {
  return occasionRecordSchema.parse(JSON.parse(text));
}

/** The lock ends with its connection, so that of a killed process is free. */
async function whileLocked<T>(database: Database, name: string, use: () => Promise<T>): Promise<T> {
  const client = await database.connect();
  try {
    while (!(await isTaken(client, name))) await delay(PAUSE_MS);
    return await use();
  } finally {
    await client.end().catch(() => {});
  }
}

async function isTaken(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, $2)) taken',
    [name, LOCK_SEED],
  );
  return rows[0]?.taken === true;
}

/** Keeps the locks of triggers apart from those of others. */
const LOCK_SEED = 7_296_663_602;
