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
import { acceptRun } from './accept-run.ts';
import { CHANNEL } from './announcer.ts';
import type { Database, Queries, Transaction, Work } from './database.ts';
import { checkHead } from './head.ts';
import { type OwnParts, ownRun } from './own-run.ts';
import { holderIn, type OwnerParts, ownerOf, workerOf } from './owners.ts';
import { DamagedEvents, leaseLost, runExists, runLocked, setBack } from './run-errors.ts';
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
import { keyProblem, UNCHECKED_ROWS } from './seals.ts';
import { announceHead, removed } from './seen-heads.ts';

export interface LeaseParts extends OwnParts {
  readonly database: Database;
  readonly key: UserKey;
  readonly clock: Clock;
  readonly world: () => OwnerParts;
  /** Says that a run was set back to an earlier moment. */
  readonly onSetBack: (text: string) => void;
  /** How long a lease lasts after the last heartbeat of its holder. */
  readonly leaseMs: number;
}

export async function takeLease(parts: LeaseParts, id: string): Promise<Lease> {
  const { database, key, rows, heads, leaseMs } = parts;
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
      lockFirst(queries, id);
      await hold(queries);
      return work(queries);
    });
  const endBeats = beat(parts, () => hold(database));
  const newJournal = (): OwnedJournal => {
    if (opened) throw new Error(`The journal of ${id} is already open.`);
    // Nothing that follows from a run gets a seal until a person has accepted the run.
    const trusted = () => (isForeign ? { ...parts, rows: UNCHECKED_ROWS } : parts);
    opened = postgresJournal(trusted, id, change);
    return opened;
  };

  return {
    async create(events, after, kept) {
      const journal = newJournal();
      const first = [...events];
      const unsealed = await keyProblem(key);
      const head = await change(async (queries) => {
        if (await findRow(queries, id)) throw runExists(id);
        return insertRun(queries, parts, first, after, kept);
      });
      heads.note(head);
      await heads.save();
      return { journal, unsealed };
    },
    async open() {
      const journal = newJournal();
      return change(async (queries) => {
        const row = await lockRow(queries, id, parts.rows);
        const { run, isOwn, missed } = await ownRun(queries, parts, id, row);
        if (missed) parts.onSetBack(setBack(id, row, missed));
        isForeign = !isOwn;
        return { run, isOwn, journal };
      });
    },
    salvage: () => change((queries) => salvage(queries, parts, id)),
    confirm: () => hold(database),
    async seal() {
      const problem = await keyProblem(key);
      // The seals of the events cover the choices. Nothing else is needed, unless another user stored the run.
      if (problem || !isForeign) return problem;
      const head = await change(async (queries) => {
        const row = await findRow(queries, id);
        const seen = row && (await heads.newest(row.born));
        return acceptRun(queries, rows, id, seen?.era ?? 0);
      });
      isForeign = false;
      heads.note(head);
      await heads.save();
      return undefined;
    },
    async publish(now) {
      const done = await database.query(PUBLISH, [id, token, JSON.stringify(now), CHANNEL]);
      if (done.length === 0) throw leaseLost(id, await ownerOf(database, parts.world(), id));
    },
    async remove() {
      const end = await change(async (queries) => {
        const row = await findRow(queries, id);
        queries.write('delete from raymond.runs where id = $1', [id]);
        queries.write('delete from raymond.publications where run = $1', [id]);
        for (const kind of ['events', 'gone'])
          queries.write('select pg_notify($1, $2)', [CHANNEL, `${kind} ${id}`]);
        if (row) await announceHead(queries, rows, removed(row));
        return row && removed(row);
      });
      if (end) heads.note(end);
      await heads.save();
    },
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
function lockFirst({ write }: Transaction, id: string): void {
  write('select from raymond.runs where id = $1 for update', [id]);
}

/** Gives the token of the new lease. Rejects with a UserError if a process works on the run. */
async function acquire({ database, world, leaseMs }: LeaseParts, id: string): Promise<string> {
  const token = randomUUID();
  const here = world();
  await database.transaction(async (queries) => {
    // Workers decide about the run under this lock. So either their change is done, or they see the lease.
    lockFirst(queries, id);
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

/** Sends heartbeats until the returned function is called. A failure shows at the next change. */
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
  partsNow: () => LeaseParts,
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
        const parts = partsNow();
        const { rows, heads } = parts;
        const head = await change(async (queries) => {
          const row = await lockRow(queries, id, rows);
          await checkHead(rows, id, row);
          const appended = await appendEvents(queries, parts, row, copy, after);
          await announceHead(queries, rows, appended);
          await wake(queries, id);
          return appended;
        });
        heads.note(head);
        await heads.save();
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
