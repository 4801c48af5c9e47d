/**
 * INV-34: Every change by a lease happens in a transaction that holds the row of the lease with the
 * token of its holder.
 *
 * So a process that has lost its lease changes nothing, even if it was stopped in the middle of a
 * change. The clock of the database decides when a lease is over.
 */
import { randomUUID } from 'node:crypto';
import type { UserKey } from '../journal/user-key.ts';
import type { Clock, Lease, OwnedJournal, Salvaged } from '../ports.ts';
import { sealRows } from './accept-run.ts';
import { CHANNEL } from './announcer.ts';
import type { Database, Queries, Work } from './database.ts';
import { ownRun } from './own-run.ts';
import { holderIn, type OwnerParts, ownerOf, workerOf } from './owners.ts';
import { DamagedEvents, leaseLost, runExists, runLocked } from './run-errors.ts';
import {
  appendEvents,
  findRow,
  insertRun,
  lockRow,
  type RunParts,
  runOf,
  shorten,
  wake,
} from './run-row.ts';
import { addSeals, coveredText, sealFor } from './seals.ts';
import { KEEP_RECORD } from './step-records.ts';

export interface LeaseParts extends RunParts {
  readonly database: Database;
  readonly key: UserKey;
  readonly clock: Clock;
  readonly world: () => OwnerParts;
  /** How long a lease lasts after the last sign of life of its holder. */
  readonly leaseMs: number;
}

export async function takeLease(parts: LeaseParts, id: string): Promise<Lease> {
  const { database, key, sealedText, leaseMs } = parts;
  const token = await acquire(parts, id);
  let opened: OwnedJournal | undefined;
  let isReleased = false;
  let isForeign = false;

  /** Proves and prolongs the lease. In a transaction, no other process can take it until the end. */
  const hold = async (queries: Queries) => {
    const held = await queries.query(HOLD, [id, token, leaseMs]);
    if (held.length === 0) throw leaseLost(id, await ownerOf(queries, parts.world(), id));
  };
  const change = <T>(work: Work<T>): Promise<T> =>
    database.transaction(async (queries) => {
      await lockFirst(queries, id);
      await hold(queries);
      return work(queries);
    });
  const endBeats = beat(parts, () => hold(database));
  const newJournal = (): OwnedJournal => {
    if (opened) throw new Error(`The journal of ${id} is already open.`);
    opened = postgresJournal(parts, id, change);
    return opened;
  };

  return {
    async create(events, after, kept) {
      const journal = newJournal();
      const first = [...events];
      const roots = (kept?.trees ?? []).map(({ root }) => root).sort();
      const covered = coveredText(sealedText(after), { remote: kept?.remote ?? null, roots });
      const { seals, problem } = await sealFor(key, covered);
      await change(async (queries) => {
        if (await findRow(queries, id)) throw runExists(id);
        await insertRun(queries, parts, first, after, { seals, ...kept });
      });
      return { journal, unsealed: problem };
    },
    async open() {
      const journal = newJournal();
      return change(async (queries) => {
        const row = await lockRow(queries, id, parts.rows);
        const opened = await ownRun(queries, parts, id, row);
        isForeign = !opened.isOwn;
        return { ...opened, journal };
      });
    },
    salvage: () => change((queries) => salvage(queries, parts, id)),
    confirm: () => hold(database),
    async seal(chosen) {
      return change(async (queries) => {
        const row = await lockRow(queries, id, parts.rows);
        const { seals, problem } = await sealFor(key, coveredText(sealedText(chosen), row));
        await addSeals(queries, id, seals);
        // The user has accepted it as it is.
        if (isForeign) await sealRows(queries, parts.rows, id);
        return problem;
      });
    },
    keepRecord: (step, name, content) =>
      change(async ({ query }) => {
        await query(KEEP_RECORD, [id, step.agent, step.step, name, Buffer.from(content)]);
      }),
    async publish(now) {
      const done = await database.query(PUBLISH, [id, token, JSON.stringify(now), CHANNEL]);
      if (done.length === 0) throw leaseLost(id, await ownerOf(database, parts.world(), id));
    },
    remove: () =>
      change(async ({ query }) => {
        await query('delete from raymond.runs where id = $1', [id]);
        await query('delete from raymond.publications where run = $1', [id]);
        for (const kind of ['events', 'gone'])
          await query('select pg_notify($1, $2)', [CHANNEL, `${kind} ${id}`]);
      }),
    async release() {
      if (isReleased) return;
      isReleased = true;
      endBeats();
      await opened?.close();
      await database.query(RELEASE, [id, token, CHANNEL]);
      // Workers leave the run alone while another process has a lease.
      await wake(database, id);
    },
  };
}

const UNTIL = (ms: string) => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;
const HOLD = `update raymond.leases set until = ${UNTIL('$3')}
  where run = $1 and token = $2 returning run`;
const PUBLISH = `insert into raymond.publications (run, publisher, content)
  select run, token, $3 from raymond.leases where run = $1 and token = $2
  on conflict (run, publisher) do update set content = excluded.content, published_at = now()
  returning pg_notify($4, 'now ' || run)`;
const RELEASE = `with released as (delete from raymond.leases where run = $1 and token = $2),
  unpublished as (delete from raymond.publications where run = $1 and publisher = $2)
  select pg_notify($3, 'now ' || $1)`;

/** The run before the lease, in every transaction, so that two of them never wait for each other. */
async function lockFirst({ query }: Queries, id: string): Promise<void> {
  await query('select from raymond.runs where id = $1 for update', [id]);
}

/** Gives the token of the new lease. Rejects with a UserError if a process works on the run. */
async function acquire({ database, world, leaseMs }: LeaseParts, id: string): Promise<string> {
  const token = randomUUID();
  const here = world();
  await database.transaction(async (queries) => {
    // Workers decide about the run under this lock. So either their change is done, or they see the lease.
    await lockFirst(queries, id);
    const worker = await workerOf(queries, id);
    if (worker) throw runLocked(id, worker);
    const [lease] = await queries.query<{ token: string; owner: string; isValid: boolean }>(
      `select token, owner, until > clock_timestamp() as "isValid"
       from raymond.leases where run = $1 for update`,
      [id],
    );
    const owner = lease?.isValid ? holderIn(lease.owner, here) : undefined;
    if (owner) throw runLocked(id, owner);
    const taken = await queries.query(TAKE, [
      ...[id, token, JSON.stringify(here.self), leaseMs, lease?.token ?? null],
    ]);
    if (taken.length === 0)
      throw runLocked(id, (await ownerOf(queries, here, id)) ?? ANOTHER_PROCESS);
  });
  return token;
}

const TAKE = `insert into raymond.leases as held (run, token, owner, until)
  values ($1, $2, $3, ${UNTIL('$4')})
  on conflict (run) do update set token = $2, owner = $3, until = ${UNTIL('$4')}
  where held.token = $5 returning run`;

const ANOTHER_PROCESS = {
  ...{ pid: 0, started: '', boot: '', name: 'another process', isHere: false },
};

/** Gives signs of life until the returned function is called. A failure shows at the next change. */
function beat({ clock, leaseMs }: LeaseParts, hold: () => Promise<void>): () => void {
  let cancel = () => {};
  let isOver = false;
  const next = () => {
    if (isOver) return;
    cancel = clock.at(clock.now() + leaseMs / 4, () => void hold().then(next, () => {}));
  };
  next();
  return () => {
    isOver = true;
    cancel();
  };
}

/** One append after the other, in the order of the calls. */
function postgresJournal(
  parts: RunParts,
  id: string,
  change: <T>(work: Work<T>) => Promise<T>,
): OwnedJournal {
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();
  return {
    append(events, after) {
      const copy = [...events];
      const appended = last.then(async () => {
        if (isClosed) throw new Error(`The journal of ${id} is closed.`);
        await change(async (queries) => {
          const row = await lockRow(queries, id, parts.rows);
          await appendEvents(queries, parts, row, copy, after);
          await wake(queries, id);
        });
      });
      last = appended.catch(() => {});
      return appended;
    },
    async close() {
      await last;
      isClosed = true;
    },
  };
}

async function salvage(
  queries: Queries,
  parts: RunParts,
  id: string,
): Promise<Salvaged | undefined> {
  const row = await lockRow(queries, id, parts.rows);
  try {
    await runOf(queries, { codec: parts.codec }, id, row);
    return undefined;
  } catch (error) {
    if (!(error instanceof DamagedEvents) || error.good === 0) throw error;
    const lostBytes = await shorten(queries, parts, id, row, error.good);
    return { seq: error.good, lostBytes, brokenFile: undefined };
  }
}
