/**
 * INV-32: Whoever changes a run in a database locks its row first. The row and its events always agree.
 *
 * The run of a row, and appends to it. These functions keep everything right that a row says about its
 * events: their number and version, the summary, what a seal covers, and the snapshot.
 */
import type { RunCodec } from '../journal/file-journal.ts';
import { decodeEvent, encodeEvent } from '../journal/journal-format.ts';
import { isRunId } from '../journal/run-id.ts';
import { JOURNAL_VERSION, type JournaledEvent, type RunEvent } from '../model/event.ts';
import { PositionConflict } from '../model/position-conflict.ts';
import type { Run } from '../model/run.ts';
import { summaryOf } from '../model/run-summary.ts';
import type { UserError } from '../model/user-error.ts';
import type { ChosenRun, EachEvent, KeptWithRun } from '../ports.ts';
import { CHANNEL } from './announcer.ts';
import type { Queries, Transaction } from './database.ts';
import { DamagedEvents, newerRun, noRun } from './run-errors.ts';
import { coveredText, ForeignRow, type RowSeals } from './seals.ts';
import { keepArchive } from './workflow-archives.ts';

export interface RunParts {
  readonly codec: RunCodec<Run>;
  /** The part of a run that the user's seal covers. */
  readonly sealedText: (chosen: ChosenRun) => string;
  readonly rows: RowSeals;
}

/** The facts of a row about the events of its run. */
export interface RunRow {
  /** Differs from that of an earlier run with the same id. */
  readonly born: string;
  readonly seq: number;
  readonly version: number;
  readonly seals: readonly string[];
  /** The git remote through which the files of the run travel. */
  readonly remote: string | null;
  /** The working trees whose files travel. */
  readonly roots: readonly string[];
  readonly snapshotSeq: number;
  readonly snapshotBytes: number;
  /** The size of the events after the snapshot. */
  readonly unfolded: number;
}

const ROW = `born::text, seq, version, seals, remote,
  array(select root from raymond.trees t where t.run = runs.id order by root) as roots, snapshot_seq as "snapshotSeq",
  coalesce(octet_length(snapshot), 0) as "snapshotBytes", unfolded::float8 as unfolded`;

/** The id becomes a part of paths, and others may be able to write any row. */
export async function findRow(queries: Queries, id: string): Promise<RunRow | undefined> {
  if (!isRunId(id)) return undefined;
  const [row] = await queries.query<RunRow>(`select ${ROW} from raymond.runs where id = $1`, [id]);
  return row;
}

/** Those of the given runs that exist and have not ended. */
export async function openRuns(
  { query }: Queries,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await query<{ id: string }>(
    "select id from raymond.runs where id = any($1) and status <> 'ended'",
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Locks the run until the end of the transaction: no other process can change it meanwhile. Everybody
 * who changes a run does this first. Throws a UserError if there is no such run.
 */
export async function lockRow(queries: Queries, id: string, rows?: RowSeals): Promise<RunRow> {
  if (!isRunId(id)) throw noRun(id);
  const [row] = await queries.query<RunRow>(
    `select ${ROW} from raymond.runs where id = $1 for update`,
    [id],
  );
  if (!row) throw noRun(id);
  if (row.version < JOURNAL_VERSION) await upgrade(queries, id, row, rows);
  if (row.version > JOURNAL_VERSION) throw newerRun(id, row.version);
  return { ...row, version: JOURNAL_VERSION };
}

/**
 * The run of a row. `known` is the same run at an earlier position: then only the events after it are
 * read. `each` gets every event, so it needs all of them. With `rows`, everything that is read must have
 * a seal.
 */
export async function runOf(
  queries: Queries,
  { codec, rows }: Pick<RunParts, 'codec'> & Partial<Pick<RunParts, 'rows'>>,
  id: string,
  row: RunRow,
  { known, each }: { readonly known?: Run | undefined; readonly each?: EachEvent | undefined } = {},
): Promise<Run> {
  const start = each ? undefined : (known ?? (await snapshotOf(queries, codec, id, row, rows)));
  let run = start;
  for await (const events of eventsAfter(queries, id, row, start?.seq ?? 0, rows)) {
    for (const event of events) {
      const before = run;
      const after = codec.apply(before, event);
      each?.(event, before, after);
      run = after;
    }
  }
  if (!run) throw new DamagedEvents(id, 1, 'is missing');
  if (run.id !== id) throw new DamagedEvents(id, 1, 'belongs to another run');
  return run;
}

/**
 * The events up to the end that the row gives, in batches of limited size. With `rows`, throws ForeignRow
 * at an event without a seal.
 */
export async function* eventsAfter(
  queries: Queries,
  id: string,
  row: Pick<RunRow, 'born' | 'seq' | 'version'>,
  after: number,
  rows?: RowSeals,
): AsyncGenerator<readonly JournaledEvent[]> {
  for (let last = after; last < row.seq; ) {
    const found = await queries.query<StoredEvent>(SOME_EVENTS, [
      ...[id, last, row.seq, MOST_EVENTS, MOST_BYTES],
    ]);
    const events: JournaledEvent[] = [];
    for (const { seq, event: text, seal } of found) {
      if (seq !== last + 1) break;
      if (rows && !(await rows.holds('event', [id, seq, row.version, text], seal)))
        throw new ForeignRow(`event ${seq} of ${id}`);
      const event = decodeEvent(text, row.version);
      if (!event || (event.type === 'run-started') !== (seq === 1)) {
        yield events;
        throw new DamagedEvents(id, seq, 'is not an event that this Raymond knows');
      }
      events.push({ seq, ...event });
      last = seq;
    }
    if (events.length > 0) yield events;
    else throw await missing(queries, id, row, last + 1);
  }
}

interface StoredEvent {
  readonly seq: number;
  readonly event: string;
  readonly seal: string | null;
}

/** The run may have been removed since its row was read. */
async function missing(
  queries: Queries,
  id: string,
  { born }: Pick<RunRow, 'born'>,
  seq: number,
): Promise<UserError> {
  const row = await findRow(queries, id);
  return row?.born === born ? new DamagedEvents(id, seq, 'is missing') : noRun(id);
}

const MOST_EVENTS = 2_000;
const MOST_BYTES = 8 * 1024 * 1024;

/** At least one event, however large it is. PostgreSQL knows the size of a text without reading it. */
const SOME_EVENTS = `select seq, event, seal from (
    select seq, event, seal, sum(octet_length(event)) over (order by seq) total from (
      select seq, event, seal from raymond.events
      where run = $1 and seq > $2 and seq <= $3 order by seq limit $4
    ) batch
  ) sized
  where total <= $5 or seq = $2 + 1 order by seq`;

/** Begins a run. The id must be free. */
export async function insertRun(
  queries: Queries,
  { sealedText, rows }: Pick<RunParts, 'sealedText' | 'rows'>,
  events: readonly RunEvent[],
  after: Run,
  { seals, sources = [], trees = [], remote }: KeptWithRun & { readonly seals: readonly string[] },
): Promise<void> {
  const { id, seq, status } = after;
  if (seq !== events.length) throw new PositionConflict(id, seq - events.length, 0);
  const texts = events.map(encodeEvent);
  const roots = trees.map(({ root }) => root).sort();
  const covered = coveredText(sealedText(after), { remote: remote ?? null, roots });
  await queries.query(
    `insert into raymond.runs (id, seq, version, status, summary, chosen, seals, unfolded, remote)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      ...[id, seq, JOURNAL_VERSION, status.kind, JSON.stringify(summaryOf(after))],
      ...[covered, seals, bytesOf(texts), remote ?? null],
    ],
  );
  for (const { ref, archive } of sources) await keepArchive(queries, rows, id, ref, archive);
  for (const { root, snapshot } of trees)
    await queries.query(
      'insert into raymond.trees (run, root, snapshot, seal) values ($1, $2, $3, $4)',
      [id, root, snapshot, await rows.make('tree', [id, root, snapshot])],
    );
  await queries.query(INSERT_EVENTS, [id, 0, texts, await sealsOf(rows, id, 0, texts)]);
  await queries.query('select pg_notify($1, $2)', [CHANNEL, `events ${id}`]);
  await wake(queries, id);
}

/** Asks the workers to look at a run. Does nothing for a run that does not exist. */
export async function wake({ query }: Queries, id: string): Promise<void> {
  await query(
    `insert into raymond.wakeups as known (run, at) select id, now() from raymond.runs where id = $1
     on conflict (run) do update set at = least(known.at, excluded.at)
     returning pg_notify($2, 'work ' || run)`,
    [id, CHANNEL],
  );
}

const INSERT_EVENTS = `insert into raymond.events (run, seq, event, seal)
  select $1, $2::integer + number, event, seal
  from unnest($3::text[], $4::text[]) with ordinality as added (event, seal, number)`;

function sealsOf(
  rows: RowSeals,
  id: string,
  after: number,
  texts: readonly string[],
): Promise<readonly (string | null)[]> {
  return Promise.all(
    texts.map((text, index) => rows.make('event', [id, after + index + 1, JOURNAL_VERSION, text])),
  );
}

/** Appends to a run whose row this transaction has locked. Listeners get a notice soon after it commits. */
export async function appendEvents(
  queries: Transaction,
  { codec, sealedText, rows }: RunParts,
  row: RunRow,
  events: readonly RunEvent[],
  after: Run,
): Promise<void> {
  const { id, seq, status } = after;
  const expected = seq - events.length;
  if (expected !== row.seq) throw new PositionConflict(id, expected, row.seq);
  if (events.length === 0) return;
  const texts = events.map(encodeEvent);
  const unfolded = row.unfolded + bytesOf(texts);
  const snapshot = isDue(unfolded, row.snapshotBytes) ? frozen(codec, after) : undefined;
  await queries.query(
    `with added as (${INSERT_EVENTS})
     update raymond.runs set seq = $5, status = $6, summary = $7, chosen = $8, unfolded = $9,
       snapshot = coalesce($10, snapshot),
       snapshot_seq = case when $10 is null then snapshot_seq else $5 end,
       snapshot_seal = case when $10 is null then snapshot_seal else $11 end
     where id = $1`,
    [
      ...[id, expected, texts, await sealsOf(rows, id, expected, texts)],
      ...[seq, status.kind, JSON.stringify(summaryOf(after)), coveredText(sealedText(after), row)],
      ...[snapshot === undefined ? unfolded : 0, snapshot ?? null],
      ...[snapshot === undefined ? null : await rows.make('snapshot', [id, seq, snapshot])],
    ],
  );
  queries.announce(`events ${id}`);
}

/** Removes all events after a position, from a run that this transaction has locked. Gives their size. */
export async function shorten(
  queries: Queries,
  parts: RunParts,
  id: string,
  row: RunRow,
  seq: number,
): Promise<number> {
  const [lost] = await queries.query<{ bytes: number }>(
    `with gone as (delete from raymond.events where run = $1 and seq > $2 returning event)
     select coalesce(sum(octet_length(event)), 0)::float8 as bytes from gone`,
    [id, seq],
  );
  const { codec, sealedText } = parts;
  const run = await runOf(queries, { codec }, id, { ...row, seq, snapshotSeq: 0 });
  await queries.query(
    `update raymond.runs set seq = $2, status = $3, summary = $4, chosen = $5,
       snapshot = null, snapshot_seq = 0, snapshot_seal = null where id = $1`,
    [
      ...[id, seq, run.status.kind, JSON.stringify(summaryOf(run))],
      coveredText(sealedText(run), row),
    ],
  );
  return lost?.bytes ?? 0;
}

/** As in a journal: snapshots add at most a quarter, and a reader reads a few times the size of the run. */
function isDue(unfolded: number, snapshotBytes: number): boolean {
  return unfolded > Math.max(MIN_BYTES_BETWEEN_SNAPSHOTS, 4 * snapshotBytes);
}

const MIN_BYTES_BETWEEN_SNAPSHOTS = 256 * 1024;

/** A string cannot be longer than this. */
function frozen(codec: RunCodec<Run>, run: Run): string | undefined {
  try {
    return JSON.stringify({ version: JOURNAL_VERSION, state: codec.freeze(run) });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A snapshot only saves time, so one that cannot be used is ignored. */
async function snapshotOf(
  queries: Queries,
  codec: RunCodec<Run>,
  id: string,
  row: RunRow,
  rows: RowSeals | undefined,
): Promise<Run | undefined> {
  if (row.snapshotSeq === 0) return undefined;
  const [found] = await queries.query<{ snapshot: string; seal: string | null }>(
    'select snapshot, snapshot_seal as seal from raymond.runs where id = $1 and snapshot_seq = $2',
    [id, row.snapshotSeq],
  );
  const facts = [id, row.snapshotSeq, found?.snapshot ?? ''];
  if (rows && !(await rows.holds('snapshot', facts, found?.seal ?? null))) return undefined;
  try {
    const { version, state } = JSON.parse(found?.snapshot ?? 'null');
    const run = version === JOURNAL_VERSION ? codec.thaw(state) : undefined;
    return run?.seq === row.snapshotSeq ? run : undefined;
  } catch {
    return undefined;
  }
}

/** Upgrades the events of an older version, so that a run has one version. */
async function upgrade(
  queries: Queries,
  id: string,
  row: RunRow,
  rows: RowSeals | undefined,
): Promise<void> {
  const isOwn = rows !== undefined && (await areSealed(queries, rows, id, row));
  for await (const events of eventsAfter(queries, id, row, 0)) {
    for (const { seq, ...event } of events) {
      const text = encodeEvent(event);
      const seal = isOwn ? await rows.make('event', [id, seq, JOURNAL_VERSION, text]) : null;
      await queries.query(
        'update raymond.events set event = $3, seal = $4 where run = $1 and seq = $2',
        [id, seq, text, seal],
      );
    }
  }
  await queries.query('update raymond.runs set version = $2 where id = $1', [id, JOURNAL_VERSION]);
}

async function areSealed(
  queries: Queries,
  rows: RowSeals,
  id: string,
  row: RunRow,
): Promise<boolean> {
  try {
    for await (const _ of eventsAfter(queries, id, row, 0, rows));
    return true;
  } catch (error) {
    if (error instanceof ForeignRow) return false;
    throw error;
  }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
