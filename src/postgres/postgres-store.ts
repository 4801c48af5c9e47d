/** Runs in a PostgreSQL database. Every process that can write to the database can work on them. */

import * as z from 'zod/mini';
import { isRunId } from '../journal/run-id.ts';
import { isSummary } from '../journal/run-index.ts';
import { attempt } from '../model/attempt.ts';
import { JOURNAL_VERSION } from '../model/event.ts';
import { type Now, nowSchema } from '../model/now.ts';
import { summaryOf } from '../model/run-summary.ts';
import { UserError } from '../model/user-error.ts';
import type {
  Cache,
  EachEvent,
  LookedAtRun,
  RunStore,
  StepRecords,
  SurveyedRun,
} from '../ports.ts';
import type { Database, Queries } from './database.ts';
import { HEAD, type Head, isHeadSealed } from './head.ts';
import { postgresFiles } from './kept-files.ts';
import { type LeaseParts, takeLease } from './lease.ts';
import { postgresMailbox } from './mailbox.ts';
import { changesOf, listenTo } from './notices.ts';
import { ownRun } from './own-run.ts';
import { type OwnerColumns, ownerColumns, ownerIn, ownerOf, type ProcessWorld } from './owners.ts';
import { newerRun, noRun, setBack } from './run-errors.ts';
import { eventsAfter, findRow, type RunRow } from './run-row.ts';
import { rowSeals } from './seals.ts';
import { DatabaseError } from './trouble.ts';

export interface PostgresStoreParts
  extends Omit<LeaseParts, 'leaseMs' | 'world' | 'rows' | 'onSetBack'> {
  /** Shows a warning to the user. */
  readonly report?: (text: string) => void;
  readonly world: () => ProcessWorld;
  /** Whether workers carry the runs, so that a run without a process waits for one. */
  readonly areCarried?: boolean;
  readonly leaseMs?: number;
  /** How often to look for news of which no notice arrived. */
  readonly lookEveryMs?: number;
}

/** The tables must exist: see `migrate`. */
export function postgresStore(given: PostgresStoreParts): RunStore {
  const { database, key, lookEveryMs = 5_000 } = given;
  const { areCarried = false, leaseMs = 60_000 } = given;
  const world = () => ({ ...given.world(), areCarried });
  const parts: LeaseParts = {
    ...{ ...given, world, leaseMs, rows: rowSeals(key) },
    onSetBack: once(given.report ?? (() => {})),
  };
  const notices = listenTo(database);

  /** No run has an id that the store could not keep. */
  const checked = (id: string): string => {
    if (!isRunId(id)) throw noRun(id);
    return id;
  };
  const look = async (id: string, each?: EachEvent): Promise<LookedAtRun> => {
    checked(id);
    // First the owner: a process first writes the end of the run, and then releases it.
    const owner = await ownerOf(database, world(), id);
    const row = await readableRow(database, id);
    const { run, isOwn, missed } = await ownRun(database, parts, id, row, each);
    if (missed) parts.onSetBack(setBack(id, row, missed));
    return { kind: 'stored', id, run, isOwn, owner };
  };
  const lookSafely: RunStore['look'] = (id, each) =>
    look(id, each).catch((error) => {
      if (!(error instanceof UserError) || error instanceof DatabaseError) throw error;
      return { kind: 'damaged', id, problem: error };
    });
  const now = async (id: string, signal?: AbortSignal) =>
    isRunId(id) ? readNow(signal ? database.until(signal) : database, id) : undefined;

  return {
    async list() {
      const rows = await database.query<{ id: string }>('select id from raymond.runs');
      return rows.map(({ id }) => id).sort();
    },
    async survey() {
      const rows = await database.query<SurveyRow>(SURVEY);
      const here = world();
      return Promise.all(
        rows.map(async ({ id, summary, head, ...owner }): Promise<SurveyedRun> => {
          const run: unknown = JSON.parse(summary);
          if (isSummary(run)) {
            const isOwn = await isHeadSealed(parts.rows, id, head);
            return { kind: 'stored', id, run, isOwn, owner: ownerIn(owner, here) };
          }
          // Another version of Raymond wrote the summary.
          const found = await lookSafely(id);
          return found.kind === 'damaged' ? found : { ...found, run: summaryOf(found.run) };
        }),
      );
    },
    look: lookSafely,
    owner: async (id) => (isRunId(id) ? ownerOf(database, world(), id) : undefined),
    async *events(id, after = 0) {
      const row = await readableRow(database, checked(id));
      for await (const events of eventsAfter(database, id, row, after)) yield* events;
    },
    async *watch(id, after, signal) {
      checked(id);
      const queries = database.until(signal);
      let first: RunRow | undefined;
      let last = after;
      try {
        for await (const _ of changesOf(notices, ['events'], id, { signal, lookEveryMs })) {
          const row = await readableRow(queries, id);
          first ??= row;
          // A new run with the same id is not the one that is watched.
          if (row.born !== first.born) throw noRun(id);
          for await (const events of eventsAfter(queries, id, row, last)) {
            for (const event of events) {
              if (signal.aborted) return;
              last = event.seq;
              yield event;
            }
          }
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    now,
    async *watchNow(id, signal) {
      const often = { signal, lookEveryMs: lookEveryMs / 5 };
      let last: string | undefined;
      try {
        for await (const _ of changesOf(notices, ['now'], id, often)) {
          const found = await now(id, signal);
          const text = JSON.stringify(found ?? null);
          if (text !== last) yield found;
          last = text;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    news: (id, signal) =>
      id === undefined
        ? changesOf(notices, SURVEYED, id, { signal, lookEveryMs: 6 * lookEveryMs })
        : changesOf(notices, [...SURVEYED, 'now'], id, { signal, lookEveryMs }),
    lease: async (id) => takeLease(parts, checked(id)),
    mailbox: (id) => postgresMailbox({ database, notices, lookEveryMs, key }, checked(id)),
    records: (id) => postgresRecords(database, id),
    files: (id) => postgresFiles(database, id),
    cache: (name) => postgresCache(parts, name),
  };
}

function once(report: (text: string) => void): (text: string) => void {
  const reported = new Set<string>();
  return (text) => {
    if (!reported.has(text)) report(text);
    reported.add(text);
  };
}

/** The notices of what a survey or the mail shows. Others only say what agents do. */
const SURVEYED = ['events', 'mail', 'work', 'gone'] as const;

interface SurveyRow extends OwnerColumns {
  readonly id: string;
  readonly summary: string;
  readonly head: Head;
}

const SURVEY = `select r.id, r.summary, (select row_to_json(h) from (select ${HEAD}) h) as head,
    ${ownerColumns('r.id', 'r.status')} from raymond.runs r`;

/** Throws a UserError if this Raymond cannot read the run. */
async function readableRow(queries: Queries, id: string): Promise<RunRow> {
  const row = await findRow(queries, id);
  if (!row) throw noRun(id);
  if (row.version > JOURNAL_VERSION) throw newerRun(id, row.version);
  return row;
}

/** Several workers can carry a run, and each one publishes what its agents do. */
async function readNow({ query }: Queries, id: string): Promise<Now | undefined> {
  const rows = await query<{ content: string }>(
    `select content from raymond.publications p where run = $1 and (
       exists (select from raymond.leases l
         where l.run = p.run and l.token = p.publisher and l.until > clock_timestamp())
       or exists (select from raymond.workers w
         where w.id = p.publisher and w.lease_until > clock_timestamp()))
     order by published_at desc`,
    [id],
  );
  const found = rows.flatMap(
    ({ content }) =>
      z.safeParse(
        nowSchema,
        attempt(() => JSON.parse(content)),
      ).data ?? [],
  );
  const [newest, ...others] = found;
  if (!newest || others.length === 0) return newest;
  return {
    at: Math.max(...found.map(({ at }) => at)),
    agents: found.flatMap(({ agents }) => agents),
    omitted: found.reduce((sum, { omitted }) => sum + omitted, 0),
  };
}

function postgresRecords({ query }: Database, id: string): StepRecords {
  return {
    async read({ agent, step }, name, maxBytes) {
      // PostgreSQL has no such character, so no agent has it.
      if (!isRunId(id) || agent.includes('\0')) return undefined;
      const [record] = await query<{ content: Buffer }>(
        `select content from raymond.records
         where run = $1 and agent = $2 and step = $3 and name = $4 and octet_length(content) <= $5`,
        [id, agent, step, name, Math.min(maxBytes, MOST_BYTES)],
      );
      return record?.content;
    },
  };
}

/** The largest number that the comparison takes; no value is larger. */
const MOST_BYTES = 2 ** 31 - 1;

/** Sealed, because other users can write to the database, too. */
function postgresCache(
  { database, key }: Pick<LeaseParts, 'database' | 'key'>,
  name: string,
): Cache {
  const purpose = `cache ${name}`;
  return {
    async read() {
      const [found] = await database.query<{ content: string; seal: string }>(
        'select content, seal from raymond.caches where name = $1',
        [name],
      );
      const isOurs =
        found && (await key.isSealed(purpose, found.content, found.seal).catch(() => false));
      return isOurs ? found.content : undefined;
    },
    async write(text) {
      try {
        const seal = await key.sealIfKnown(purpose, text);
        if (seal === undefined) return;
        await database.query(
          `insert into raymond.caches (name, content, seal) values ($1, $2, $3)
           on conflict (name) do update set content = excluded.content, seal = excluded.seal`,
          [name, text, seal],
        );
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
      }
    },
  };
}
