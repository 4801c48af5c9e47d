/**
 * The newest transcript of each session of a run. Its seal covers the position in the chain of events at
 * which it was stored. So an older transcript does not count: a later event ends a step of its session.
 */
import { isStepEnd } from '../model/event-kinds.ts';
import type { PackedSession, StepKey } from '../ports.ts';
import type { Queries } from './database.ts';
import { checkHead, type Head } from './head.ts';
import { noRun } from './run-errors.ts';
import { eventsAfter, findRow } from './run-row.ts';
import { ForeignRow, type RowSeals } from './seals.ts';

/** Stores a session in the transaction that has stored the end of its step. */
export async function keepSession(
  queries: Queries,
  rows: RowSeals,
  run: string,
  { agent, step }: StepKey,
  { session, executor, sha256, content }: PackedSession,
): Promise<void> {
  await queries.query(
    `insert into raymond.sessions (run, session, agent, step, executor, sha256, content)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (run, session) do update set agent = excluded.agent, step = excluded.step,
       executor = excluded.executor, sha256 = excluded.sha256, content = excluded.content`,
    [run, session, agent, step, executor, sha256, Buffer.from(content)],
  );
  const row = await findRow(queries, run);
  if (!row) throw noRun(run);
  await sealSession(queries, rows, run, row, { session, executor, sha256 });
}

type SealedSession = Pick<PackedSession, 'session' | 'executor' | 'sha256'>;
type Place = Pick<Head, 'born' | 'seq' | 'link'>;

/** Seals a stored session as the newest one at the given position. */
export async function sealSession(
  { query }: Queries,
  rows: RowSeals,
  run: string,
  place: Place,
  session: SealedSession,
): Promise<void> {
  await query(
    'update raymond.sessions set seq = $3, link = $4, seal = $5 where run = $1 and session = $2',
    [
      ...[run, session.session, place.seq, place.link],
      await rows.make('session', sessionFacts(run, place, session)),
    ],
  );
}

const sessionFacts = (
  run: string,
  { born, seq, link }: Place,
  { session, executor, sha256 }: SealedSession,
) => [run, born, seq, link, session, executor, sha256];

/** Throws ForeignRow if the stored session has no seal, or is not the newest one. */
export async function newestSession(
  queries: Queries,
  rows: RowSeals,
  run: string,
  session: string,
): Promise<SealedSession | undefined> {
  const [found] = await queries.query<SealedSession & Stored>(
    `select session, executor, sha256, seq, link, seal from raymond.sessions
      where run = $1 and session = $2`,
    [run, session],
  );
  if (!found) return undefined;
  const foreign = new ForeignRow(run, `the stored session ${session} of ${run}`);
  const row = await findRow(queries, run);
  if (!row) throw noRun(run);
  await checkHead(rows, run, row);
  const { seq, link } = found;
  const facts = sessionFacts(run, { born: row.born, seq, link }, found);
  if (!(await rows.holds('session', facts, found.seal))) throw foreign;
  for await (const events of eventsAfter(queries, run, row, seq, { rows, link }))
    for (const event of events)
      if (isStepEnd(event) && event.session?.id === session) throw foreign;
  return found;
}

/** Stores a copy of a session for another run, which has begun. Nothing if no step has stored the session. */
export async function copySession(
  queries: Queries,
  rows: RowSeals,
  { from, to, session }: { readonly from: string; readonly to: string; readonly session: string },
): Promise<void> {
  const found = await newestSession(queries, rows, from, session);
  if (!found) return;
  const content = await contentOf(queries, from, session);
  await keepSession(queries, rows, to, BEFORE_ITS_STEPS, { ...found, content });
}

const BEFORE_ITS_STEPS: StepKey = { agent: '', step: 0 };

interface Stored {
  readonly seq: number;
  readonly link: string | null;
  readonly seal: string | null;
}

export async function contentOf(
  { query }: Queries,
  run: string,
  session: string,
): Promise<Uint8Array> {
  const [found] = await query<{ content: Buffer }>(
    'select content from raymond.sessions where run = $1 and session = $2',
    [run, session],
  );
  if (!found) throw new Error(`The session ${session} of ${run} is no longer stored.`);
  return found.content;
}
