/**
 * INV-32: Whoever changes a run in a database locks its row first. The row and its events always agree.
 *
 * The run of a row, and appends to it. These functions keep everything right that a row says about its
 * events: their number and version, the chain of their seals, the summary and the snapshot.
 */
import { randomUUID } from 'node:crypto';
import type { RunCodec } from '../journal/file-journal.ts';
import { decodeEvent, encodeEvent } from '../journal/journal-format.ts';
import { isRunId } from '../journal/run-id.ts';
import { JOURNAL_VERSION, type JournaledEvent, type RunEvent } from '../model/event.ts';
import { PositionConflict } from '../model/position-conflict.ts';
import type { Run } from '../model/run.ts';
import { summaryOf } from '../model/run-summary.ts';
import type { UserError } from '../model/user-error.ts';
import type { EachEvent, KeptWithRun } from '../ports.ts';
import { CHANNEL } from './announcer.ts';
import type { Queries, Transaction } from './database.ts';
import { HEAD, type Head, hashOf, isHeadSealed, type Kept, linkFacts, sealHead } from './head.ts';
import { DamagedEvents, newerRun, noRun } from './run-errors.ts';
import { ForeignRow, type RowSeals, UNCHECKED_ROWS } from './seals.ts';

export interface RunParts {
  readonly codec: RunCodec<Run>;
  readonly rows: RowSeals;
}

/** The facts of a row about the events of its run. */
export interface RunRow extends Head {
  readonly snapshotSeq: number;
  readonly snapshotBytes: number;
  /** The size of the events after the snapshot. */
  readonly unfolded: number;
}

const ROW = `${HEAD}, snapshot_seq as "snapshotSeq",
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
  if (row.version > JOURNAL_VERSION) throw newerRun(id, row.version);
  if (row.version === JOURNAL_VERSION) return row;
  await upgrade(queries, id, row, rows);
  return lockRow(queries, id);
}

/**
 * The run of a row. `each` gets every event, so it needs all of them. With `rows`, everything that is read
 * must be a part of the chain that ends in the row, or `onForeign` is called, which throws unless given.
 */
export async function runOf(
  queries: Queries,
  { codec, ...checks }: Pick<RunParts, 'codec'> & Partial<Checks>,
  id: string,
  row: RunRow,
  each?: EachEvent,
): Promise<Run> {
  const start = each ? undefined : await snapshotOf(queries, codec, id, row, checks.rows);
  let run = start?.run;
  const { seq, link } = { seq: run?.seq ?? 0, link: start?.link ?? null };
  for await (const events of eventsAfter(queries, id, row, seq, { ...checks, link })) {
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

interface Checks {
  readonly rows: RowSeals;
  readonly onForeign: (what: string) => void;
}

/**
 * The events up to the end that the row gives, in batches of limited size. With `rows`, they must be links
 * of the chain from `link`, the seal of the event before them, to the head.
 */
export async function* eventsAfter(
  queries: Queries,
  id: string,
  row: Pick<RunRow, 'born' | 'seq' | 'version' | 'link'>,
  after: number,
  { rows, link = null, onForeign }: Partial<Checks> & { readonly link?: string | null } = {},
): AsyncGenerator<readonly JournaledEvent[]> {
  const refuse = (what: string) => {
    if (!onForeign) throw new ForeignRow(id, what);
    onForeign(what);
  };
  let previous = link;
  for (let last = after; last < row.seq; ) {
    const found = await queries.query<StoredEvent>(SOME_EVENTS, [
      ...[id, last, row.seq, MOST_EVENTS, MOST_BYTES],
    ]);
    const events: JournaledEvent[] = [];
    for (const { seq, event: text, seal } of found) {
      if (seq !== last + 1) break;
      if (rows && !(await rows.holds('event', linkFacts(id, row, seq, previous, text), seal)))
        refuse(`event ${seq} of ${id}`);
      previous = seal;
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
  if (rows && previous !== row.link) refuse(`the last event of ${id}`);
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
  queries: Transaction,
  { rows }: Pick<RunParts, 'rows'>,
  events: readonly RunEvent[],
  after: Run,
  { sources = [], trees = [], remote: url }: KeptWithRun = {},
): Promise<Head> {
  const { id, seq, status } = after;
  if (seq !== events.length) throw new PositionConflict(id, seq - events.length, 0);
  const texts = events.map(encodeEvent);
  const kept: Kept = {
    trees: Object.fromEntries(trees.map(({ root, snapshot }) => [root, snapshot])),
    sources: Object.fromEntries(sources.map(({ ref, archive }) => [ref, hashOf(archive)])),
    stop: 0,
  };
  const remote = url ?? null;
  const first = {
    born: randomUUID(),
    era: 1,
    version: JOURNAL_VERSION,
    seq: 0,
    link: null,
    remote,
  };
  const { links, head } = await extended(
    rows,
    id,
    { ...first, kept: JSON.stringify(kept), headSeal: null },
    texts,
  );
  queries.write(
    `insert into raymond.runs (id, seq, version, status, summary, unfolded, remote,
       born, era, link, head_seal, kept)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[id, seq, JOURNAL_VERSION, status.kind, JSON.stringify(summaryOf(after)), bytesOf(texts)],
      ...[remote, head.born, head.era, head.link, head.headSeal, head.kept],
    ],
  );
  for (const { ref, archive } of sources)
    queries.write('insert into raymond.sources (run, ref, archive) values ($1, $2, $3)', [
      ...[id, ref, Buffer.from(archive)],
    ]);
  for (const { root } of trees)
    queries.write('insert into raymond.trees (run, root) values ($1, $2)', [id, root]);
  queries.write(INSERT_EVENTS, [id, 0, texts, links]);
  queries.write('select pg_notify($1, $2)', [CHANNEL, `events ${id}`]);
  await wake(queries, id);
  return head;
}

/** The links of events that follow a head, and the head after them. */
async function extended(
  rows: RowSeals,
  id: string,
  before: Head,
  texts: readonly string[],
): Promise<{ readonly links: readonly (string | null)[]; readonly head: Head }> {
  const links: (string | null)[] = [];
  let { seq, link } = before;
  for (const text of texts) {
    seq += 1;
    link = await rows.make('event', linkFacts(id, before, seq, link, text));
    links.push(link);
  }
  const after = { ...before, seq, link };
  return { links, head: { ...after, headSeal: await sealHead(rows, id, after) } };
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

/**
 * Appends to a run whose row this transaction has locked, and whose head it has checked. Listeners get a
 * notice soon after it commits. Gives the new head.
 */
export async function appendEvents(
  queries: Transaction,
  { codec, rows }: RunParts,
  row: RunRow,
  events: readonly RunEvent[],
  after: Run,
): Promise<Head> {
  const { id, seq, status } = after;
  const expected = seq - events.length;
  if (expected !== row.seq) throw new PositionConflict(id, expected, row.seq);
  if (events.length === 0) return row;
  const texts = events.map(encodeEvent);
  const unfolded = row.unfolded + bytesOf(texts);
  const snapshot = isDue(unfolded, row.snapshotBytes) ? frozen(codec, after) : undefined;
  const { links, head } = await extended(rows, id, row, texts);
  const sealed =
    snapshot === undefined ? null : await rows.make('snapshot', snapshotFacts(id, head, snapshot));
  queries.write(
    `with added as (${INSERT_EVENTS})
     update raymond.runs set seq = $5, status = $6, summary = $7, unfolded = $8, link = $9,
       head_seal = $10, snapshot = coalesce($11, snapshot),
       snapshot_seq = case when $11 is null then snapshot_seq else $5 end,
       snapshot_seal = case when $11 is null then snapshot_seal else $12 end
     where id = $1`,
    [
      ...[id, expected, texts, links],
      ...[seq, status.kind, JSON.stringify(summaryOf(after))],
      ...[
        snapshot === undefined ? unfolded : 0,
        head.link,
        head.headSeal,
        snapshot ?? null,
        sealed,
      ],
    ],
  );
  queries.announce(`events ${id} ${seq}`);
  return head;
}

const snapshotFacts = (
  id: string,
  { born, seq, link }: Pick<Head, 'born' | 'seq' | 'link'>,
  snapshot: string,
) => [id, born, seq, link, snapshot];

/**
 * Removes all events after a position, from a run that this transaction has locked. Gives their size. Then
 * the run has no seal: the lost events may have been those that made its permissions stricter.
 */
export async function shorten(
  queries: Queries,
  { codec }: Pick<RunParts, 'codec'>,
  id: string,
  row: RunRow,
  seq: number,
): Promise<number> {
  const [lost] = await queries.query<{ bytes: number }>(
    `with gone as (delete from raymond.events where run = $1 and seq > $2 returning event)
     select coalesce(sum(octet_length(event)), 0)::float8 as bytes from gone`,
    [id, seq],
  );
  const run = await runOf(queries, { codec }, id, { ...row, seq, snapshotSeq: 0 });
  await queries.query(
    `update raymond.runs set seq = $2, status = $3, summary = $4, head_seal = null,
       link = (select seal from raymond.events where run = $1 and seq = $2), snapshot = null, snapshot_seq = 0, snapshot_seal = null where id = $1`,
    [id, seq, run.status.kind, JSON.stringify(summaryOf(run))],
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
): Promise<{ readonly run: Run; readonly link: string | null } | undefined> {
  const { born, snapshotSeq: seq } = row;
  if (seq === 0) return undefined;
  const [found] = await queries.query<{
    snapshot: string;
    seal: string | null;
    link: string | null;
  }>(
    `select snapshot, snapshot_seal as seal, e.seal as link from raymond.runs
       join raymond.events e on e.run = id and e.seq = snapshot_seq where id = $1 and snapshot_seq = $2`,
    [id, seq],
  );
  if (!found) return undefined;
  const { snapshot, seal, link } = found;
  if (
    rows &&
    !(await rows.holds('snapshot', snapshotFacts(id, { born, seq, link }, snapshot), seal))
  )
    return undefined;
  try {
    const { version, state } = JSON.parse(snapshot);
    const run = version === JOURNAL_VERSION ? codec.thaw(state) : undefined;
    return run?.seq === seq ? { run, link } : undefined;
  } catch {
    return undefined;
  }
}

/** Upgrades the events of an older version, so that a run has one version. It stays the user's own. */
async function upgrade(
  queries: Queries,
  id: string,
  row: RunRow,
  rows: RowSeals | undefined,
): Promise<void> {
  const isOwn = rows !== undefined && (await isWhole(queries, rows, id, row));
  for await (const events of eventsAfter(queries, id, row, 0))
    for (const { seq, ...event } of events)
      await queries.query('update raymond.events set event = $3 where run = $1 and seq = $2', [
        ...[id, seq, encodeEvent(event)],
      ]);
  await queries.query('update raymond.runs set version = $2 where id = $1', [id, JOURNAL_VERSION]);
  await chain(queries, isOwn ? rows : undefined, id, { ...row, version: JOURNAL_VERSION });
}

async function isWhole(
  queries: Queries,
  rows: RowSeals,
  id: string,
  row: RunRow,
): Promise<boolean> {
  try {
    for await (const _ of eventsAfter(queries, id, row, 0, { rows }));
    return isHeadSealed(rows, id, row);
  } catch (error) {
    if (error instanceof ForeignRow) return false;
    throw error;
  }
}

/** Makes new links for all events as they are, in an era after `era`. Without `rows`, removes the links. */
export async function chain(
  queries: Queries,
  rows: RowSeals | undefined,
  id: string,
  row: Head,
  era = row.era,
): Promise<Head> {
  const { query } = queries;
  let head: Head = { ...row, seq: 0, link: null };
  for await (const events of eventsAfter(queries, id, row, 0)) {
    const texts = await query<{ event: string }>(
      'select event from raymond.events where run = $1 and seq = any($2) order by seq',
      [id, events.map(({ seq }) => seq)],
    );
    const added = await extended(
      rows ?? UNCHECKED_ROWS,
      id,
      head,
      texts.map(({ event }) => event),
    );
    await query(
      `update raymond.events e set seal = t.seal
         from unnest($2::int[], $3::text[]) as t (seq, seal) where e.run = $1 and e.seq = t.seq`,
      [id, events.map(({ seq }) => seq), added.links],
    );
    head = added.head;
  }
  // By the clock, because others may have seen an era that this process does not know.
  const after = { ...head, era: Math.max(Date.now(), row.era + 1, era + 1) };
  const headSeal = rows ? await sealHead(rows, id, after) : null;
  await query(
    `update raymond.runs set era = $2, link = $3, head_seal = $4, kept = $5,
       snapshot = null, snapshot_seq = 0, snapshot_seal = null,
       unfolded = (select sum(octet_length(event)) from raymond.events where run = $1)
     where id = $1`,
    [id, after.era, after.link, headSeal, after.kept],
  );
  return { ...after, headSeal };
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
