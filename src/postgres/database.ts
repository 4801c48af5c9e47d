/**
 * INV-33: Passing trouble of the database ends nothing, and no transaction happens twice because of it.
 *
 * The connections to a database. A lost connection, a restart of the server or too many connections are
 * retried with patience. If a connection is lost while a transaction commits, the server is asked
 * whether it did.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Address, addressOf, nameOf } from './address.ts';
import { Announcer } from './announcer.ts';
import { Doubts } from './doubts.ts';
import { Line } from './line.ts';
import {
  asUserError,
  codeOf,
  DatabaseError,
  isUncertain,
  NO_CONNECTION,
  NoConnectionLeft,
  reasonOf,
  troubleOf,
} from './trouble.ts';

export interface Database {
  readonly address: Address;
  /**
   * Runs one statement. It may run twice, so it only reads, or a repetition changes nothing. It shares a
   * connection with others, see `Line`.
   */
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
  /**
   * Runs statements in one transaction. `work` may be called several times, but only one call takes
   * effect. It must have no other effects. An error of `work` rolls everything back.
   */
  transaction<T>(work: Work<T>): Promise<T>;
  /**
   * The same for a little less. But `work` may take effect twice, so that must change nothing. The patience ends
   * when aborted.
   */
  repeatable<T>(work: Work<T>, until?: AbortSignal): Promise<T>;
  /** The same statements, but the patience ends when aborted. */
  until(signal: AbortSignal): Queries;
  /**
   * A separate connection, for LISTEN. The caller ends it. Not retried. `patienceMs` is how long it may
   * take, and later each of its statements.
   */
  connect(patienceMs?: number): Promise<pg.Client>;
  /** The network loses what is sent. All statements that wait for an answer are repeated on new connections. */
  doubt(): void;
  /** The same for connections that alone hang, as the server says by another way. See `Doubts`. */
  doubtIdle(queries: Queries, silentMs: number): Promise<void>;
  /** How many round trips the transactions of this process have made. */
  roundTrips(): number;
  close(): Promise<void>;
}

export type Work<T> = (queries: Transaction) => Promise<T>;

export interface Queries {
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

export interface Transaction extends Queries {
  /**
   * Runs a statement after the earlier ones. The transaction does not wait for it before the commit, and
   * fails if it fails. So its rows are for the caller of the transaction, after the commit.
   */
  write<R extends object>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
  /** Sends a notice to all listeners after the commit. See `Announcer`. */
  announce(notice: string): void;
}

export interface DatabaseParts {
  readonly url: string;
  /** Called when the database has not answered for a while, and when it answers again. */
  readonly report?: (text: string) => void;
  /** How many connections are open at most. If the server has too few, the open ones have to do. */
  readonly connections?: number;
  /** How many connections of the server this process leaves to others. */
  readonly spared?: number;
  /** How long the first connection may take if the server is busy, or is absent with `isPatient`. */
  readonly firstPatienceMs?: number;
  /** Also waits for a server that does not exist yet. */
  readonly isPatient?: boolean;
  /** The pauses between attempts: the first one, and the longest one. */
  readonly pausesMs?: readonly [first: number, longest: number];
  readonly signal?: AbortSignal;
}

export function openDatabase(parts: DatabaseParts): Database {
  const { url, report = () => {}, connections = 4, spared = 0, isPatient = false, signal } = parts;
  const { firstPatienceMs = 60_000, pausesMs = [50, 5_000] } = parts;
  const address = addressOf(url);
  const settings = connectionSettings(url);
  const pool = new pg.Pool({
    ...settings,
    max: connections,
    // Statements that do not wait for each other share a round trip.
    pipeline: true,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // The next statement finds out, and takes another connection.
  pool.on('error', () => {});
  /** The connections before the last doubt are not used again: they may hang. */
  let trusted = new WeakSet<pg.PoolClient>();
  pool.on('connect', (client) => {
    client.on('error', () => {});
    trusted.add(client);
  });
  const checked = new WeakSet<pg.PoolClient>();
  /** A new connection that others need more is closed. One that listens follows the first. */
  const connected = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    if (!trusted.has(client)) {
      client.release(true);
      return connected();
    }
    if (spared === 0 || checked.has(client)) return client;
    try {
      await spare(client, spared + (pool.totalCount > 1 ? 2 : 1));
    } catch (error) {
      client.release(true);
      throw error;
    }
    checked.add(client);
    return client;
  };
  /** If the server refuses another connection, this process waits for one of those that it has. */
  const acquire = async (): Promise<pg.PoolClient> => {
    try {
      return await connected();
    } catch (error) {
      if (codeOf(error) !== NO_CONNECTION || pool.totalCount === 0) throw error;
      pool.options.max = pool.totalCount;
      setTimeout(() => (pool.options.max = connections), IDLE_MS).unref();
      return connected();
    }
  };
  const doubts = new Doubts();
  const line = new Line(acquire, () => pool.waitingCount > 0, doubts);
  const marker = new Marker();
  const announcer = new Announcer((statement) => line.query(statement));
  const work: Working = { acquire, announcer, doubts, roundTrips: 0 };
  let hasWorked = false;
  /** How many statements have waited for long. Only the first of them is reported. */
  let waiting = 0;

  /** Repeats an attempt until the trouble has passed. */
  const patiently = async <T>(attempt: () => Promise<T>, until = signal): Promise<T> => {
    const since = Date.now();
    let isWaiting = false;
    try {
      for (let failures = 0; ; failures++) {
        try {
          const result = await attempt();
          if (isWaiting && waiting === 1) report(`${capital(nameOf(address))} answers again.`);
          hasWorked = true;
          return result;
        } catch (error) {
          const trouble = troubleOf(error);
          const waited = Date.now() - since;
          const isOver = hasWorked
            ? trouble === 'other'
            : trouble === 'other' ||
              waited > firstPatienceMs ||
              !(isPatient || trouble === 'passing');
          if (isOver || until?.aborted) throw asUserError(error, address);
          const isFull = codeOf(error) === NO_CONNECTION;
          if (waited > (isFull ? FULL_AFTER_MS : REPORT_AFTER_MS) && !isWaiting) {
            isWaiting = true;
            if (waiting++ === 0)
              report(
                isFull
                  ? `Raymond waits for a free connection of ${nameOf(address)}: ${reasonOf(error)}.`
                  : `${capital(nameOf(address))} does not answer (${reasonOf(error)}). Raymond keeps trying.`,
              );
          }
          const longest = isFull ? Math.min(FULL_AFTER_MS, pausesMs[1]) : pausesMs[1];
          await pause(pauseAfter(failures, [pausesMs[0], longest]), until);
        }
      }
    } finally {
      if (isWaiting) waiting--;
    }
  };

  const queries = (until?: AbortSignal): Queries => ({
    query: <R extends object>(text: string, values: readonly unknown[] = []) =>
      patiently(async () => (await line.query<R>({ text, values: [...values] })).rows, until),
  });

  const repeatable = <T>(act: Work<T>, until?: AbortSignal) =>
    patiently(async () => (await attempt(work, act)).result, until);

  const transaction = async <T>(act: Work<T>): Promise<T> => {
    for (;;) {
      const { result, uncertain } = await patiently(() => attempt(work, act, marker));
      if (!uncertain || (await hasCommitted(repeatable, uncertain))) return result;
    }
  };

  return {
    address,
    query: queries(signal).query,
    until: queries,
    transaction,
    repeatable,
    async connect(patienceMs) {
      const client = new pg.Client({
        ...settings,
        pipeline: true,
        ...(patienceMs !== undefined && {
          connectionTimeoutMillis: patienceMs,
          query_timeout: patienceMs,
        }),
      });
      client.on('error', () => {});
      await client.connect();
      return client;
    },
    doubt() {
      trusted = new WeakSet();
      doubts.doubtAll();
    },
    doubtIdle: (other, silentMs) => doubts.doubtIdle(other, silentMs),
    roundTrips: () => work.roundTrips,
    async close() {
      await announcer.settled();
      await pool.end();
    },
  };
}

const REPORT_AFTER_MS = 3_000;
/** Usually a connection becomes free within this time. */
const FULL_AFTER_MS = 1_000;
/** A process keeps a connection that it does not use for this long. */
const IDLE_MS = 3_000;

/** The application name of the connections of the schedule, which are always counted. */
export const RECOVERY = { application_name: 'raymond recovery', max: 2 };

/** Rejects if the server has fewer connections left than this, beside the given one. */
async function spare(client: pg.ClientBase, least: number): Promise<void> {
  const { rows } = await client.query<Connections>(CONNECTIONS_LEFT);
  const [found] = rows;
  if (found && found.left < least) throw new NoConnectionLeft(found.most, least);
}

export interface Connections {
  /** For the programs of this user. */
  readonly most: number;
  /** Those that are free, without those of the schedule. */
  readonly left: number;
}

export async function connectionsLeft({ query }: Queries): Promise<Connections> {
  const [found = { most: 0, left: 0 }] = await query<Connections>(CONNECTIONS_LEFT);
  return found;
}

/** Some are reserved for administrators. Every user sees how many there are. */
const CONNECTIONS_LEFT = `select most, (most - ${RECOVERY.max} - (select count(*) from pg_stat_activity
    where backend_type = 'client backend'
      and application_name is distinct from '${RECOVERY.application_name}'))::int as left
  from (select current_setting('max_connections')::int
    - case when current_setting('is_superuser') = 'on' then 0 else
        current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) end as most) as allowed`;

/** The settings of each connection. None of them hangs forever. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    // Even a distant server, with TLS, has answered all the questions of a new connection by then.
    connectionTimeoutMillis: 20_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: 120_000,
    // A process that is stopped in a transaction must not keep its locks.
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'raymond',
  };
}

interface Attempted<T> {
  readonly result: T;
  /** The mark of a transaction that may have been committed or not. */
  readonly uncertain?: Mark | undefined;
}

/** The parts that all transactions of a process share. */
interface Working {
  readonly acquire: () => Promise<pg.PoolClient>;
  readonly announcer: Announcer;
  readonly doubts: Doubts;
  roundTrips: number;
}

async function attempt<T>(working: Working, work: Work<T>, marker?: Marker): Promise<Attempted<T>> {
  const { announcer } = working;
  const client = await working.acquire();
  let lost: unknown;
  const onError = (error: unknown) => {
    lost ??= error;
  };
  client.on('error', onError);
  const wait = working.doubts.wait(client);
  const sent = <R>(answer: Promise<R>): Promise<R> => {
    if (wait.isAnswered) working.roundTrips++;
    return wait.for(answer);
  };
  const query = async <R extends object>(text: string, values: readonly unknown[] = []) =>
    (await sent(client.query<R>({ name: statementName(text), text, values: [...values] }))).rows;
  const writes: Promise<unknown>[] = [];
  let failure: unknown;
  const write = <R extends object>(text: string, values: readonly unknown[] = []) => {
    const written = query<R>(text, values);
    written.catch((error) => {
      failure ??= error;
    });
    writes.push(written);
    return written;
  };
  const release = (isBroken: boolean) => {
    wait.end();
    client.removeListener('error', onError);
    client.release(isBroken || lost !== undefined);
  };
  const notices: string[] = [];
  try {
    // Its failure shows at the next statement.
    sent(client.query('begin')).catch(() => {});
    const result = await work({ query, write, announce: (notice) => notices.push(notice) });
    const mark = marker?.mark(client, write);
    const committed = sent(client.query('commit'));
    try {
      // After a write that failed, the server rolls back.
      await Promise.all([...writes, committed]);
    } catch (error) {
      if (!mark || !isUncertain(error)) throw error;
      release(true);
      announcer.add(notices);
      return { result, uncertain: mark };
    }
    release(false);
    announcer.add(notices);
    return { result };
  } catch (thrown) {
    // The server refuses all statements after one that failed, so the first failure is the cause.
    const error = failure ?? thrown;
    const isBroken = lost !== undefined || isUncertain(error);
    const isRolledBack =
      !isBroken &&
      (await client.query('rollback').then(
        () => true,
        () => false,
      ));
    release(!isRolledBack);
    throw error;
  }
}

/** A statement with a name is parsed and planned once for each connection. All texts are constants. */
function statementName(text: string): string {
  const known = STATEMENT_NAMES.get(text);
  if (known) return known;
  const name = `raymond-${STATEMENT_NAMES.size}`;
  STATEMENT_NAMES.set(text, name);
  return name;
}

const STATEMENT_NAMES = new Map<string, string>();

/** The number of the last transaction that a connection has committed. */
interface Mark {
  readonly writer: string;
  readonly number: number;
}

/**
 * Each transaction leaves a mark, so that the server can be asked for it. PostgreSQL also knows whether
 * a transaction id was committed. But after a crash it gives the same ids to other transactions.
 */
class Marker {
  readonly #marks = new WeakMap<pg.ClientBase, Mark>();

  mark(client: pg.ClientBase, write: Transaction['write']): Mark {
    const last = this.#marks.get(client);
    const mark = { writer: last?.writer ?? randomUUID(), number: (last?.number ?? 0) + 1 };
    this.#marks.set(client, mark);
    if (!last) write(FORGET_OLD_MARKS);
    write(LEAVE_MARK, [mark.writer, mark.number]);
    return mark;
  }
}

const FORGET_OLD_MARKS = "delete from raymond.commits where at < now() - interval '30 days'";
/** The mark of a connection whose transactions no longer count. */
const FENCED = -1;
/** After the question below, it fails, and its transaction with it. */
const LEAVE_MARK = `insert into raymond.commits (writer, number) values ($1, $2)
  on conflict (writer) do update
  set number = excluded.number / (commits.number <> ${FENCED})::int, at = now()`;

/**
 * Waits for a transaction whose mark the server has seen. One that has come no further cannot be
 * committed any more, so that it can be repeated. Its connection is never used again.
 */
function hasCommitted(repeatable: Database['repeatable'], { writer, number }: Mark) {
  return repeatable(async ({ query, write }) => {
    write(
      `insert into raymond.commits (writer, number) values ($1, ${FENCED}) on conflict (writer) do nothing`,
      [writer],
    );
    const rows = await query<{ number: string }>(
      `update raymond.commits set number = case when number >= $2 then number else ${FENCED} end
        where writer = $1 returning number`,
      [writer, number],
    );
    return Number(rows[0]?.number) >= number;
  });
}

/** Longer after each failure, and different in each process, so that they do not return at the same time. */
function pauseAfter(failures: number, [first, longest]: readonly [number, number]): number {
  return Math.min(longest, first * 2 ** Math.min(failures, 20)) * (0.5 + Math.random() / 2);
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(
        new DatabaseError('stopped', 'The wait for the database was stopped.', 'Try again later.'),
      );
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
