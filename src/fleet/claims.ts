/**
 * The claims: one row for each running step, and the only record of who has it. A claim names the worker
 * that executes the step, or none while the step waits. So the claims are also the queue: a worker takes
 * the oldest ones that wait. When the row of a worker goes, the database frees its claims.
 */
import type { StepKey, StepKind } from '../ports.ts';
import type { Database, Queries, Transaction } from '../postgres/database.ts';
import { isRefused } from '../postgres/refused-runs.ts';
import type { Limits, WorkerFacts } from './ports.ts';

export interface Claim extends StepKey {
  /** Steps of different kinds have different limits. */
  readonly kind: StepKind;
  /** How many workers have begun the step so far. */
  readonly claim: number;
  /** The only place where the step can have begun. */
  readonly place: string | null;
}

/** A worker, and the folder in which it keeps its steps. */
export interface Claimant extends Pick<WorkerFacts, 'place'> {
  readonly id: string;
}

const COLUMNS = 'agent, step, kind, claim, place';

export interface Work {
  /** The steps that the worker has got now. */
  readonly taken: readonly StepOfRun[];
  /** Those that it had before. The answer that gave it some of them may have been lost. */
  readonly had: readonly StepOfRun[];
  /** The kinds of steps of which some still wait. */
  readonly awaited: ReadonlySet<string>;
}

export interface StepOfRun extends StepKey {
  readonly run: string;
}

/** Gives a worker steps that wait, as many as the limits allow. */
export async function takeSteps(
  database: Database,
  { id }: Pick<Claimant, 'id'>,
  limits: Limits,
  limitsForAll: Partial<Limits>,
): Promise<Work> {
  const values = [
    ...[id, KINDS, KINDS.map((kind) => limits[`${kind}s`])],
    KINDS.map((kind) => limitsForAll[`${kind}s`] ?? null),
  ];
  const isLimited = Object.keys(limitsForAll).length > 0;
  const take = ({ query }: Queries) => query<Found>(TAKE_STEPS, values);
  const found = await (isLimited
    ? // Otherwise two workers could both take the last step that a limit for all allows.
      database.repeatable((queries) => {
        queries.write('select pg_advisory_xact_lock($1)', [LOCK]);
        return take(queries);
      })
    : take(database));
  const of = (wanted: 'taken' | 'had') =>
    found.flatMap(({ what, run, agent, step }) => (what === wanted ? [{ run, agent, step }] : []));
  return {
    ...{ taken: of('taken'), had: of('had') },
    awaited: new Set(found.flatMap(({ what, kind }) => (what === 'awaited' ? kind : []))),
  };
}

interface Found extends StepOfRun {
  /** `awaited`: some steps of this kind still wait. */
  readonly what: 'taken' | 'had' | 'awaited';
  readonly kind: string;
}

/** Any number that other programs are unlikely to use. */
const LOCK = 7_296_663_603;
const KINDS: readonly StepKind[] = ['prompt', 'script'];

/** A worker that was declared dead gets nothing. All parts see the claims as they were before. */
const TAKE_STEPS = `with taken as (
    update raymond.claims c set worker = me.id
      from raymond.workers me
      cross join unnest($2::text[], $3::int[], $4::int[]) as of (kind, here, everywhere)
      cross join lateral (
        select w.run, w.agent, w.step from raymond.claims w
         where w.worker is null and w.kind = of.kind and not ${isRefused('w.run', 'me.id')}
         order by w.since, w.run, w.agent
         limit greatest(0, least(
           of.here - (select count(*) from raymond.claims where worker = me.id and kind = of.kind),
           of.everywhere
             - (select count(*) from raymond.claims where worker is not null and kind = of.kind)))
         for update skip locked) as waiting
      where me.id = $1 and c.run = waiting.run and c.agent = waiting.agent and c.step = waiting.step
      returning c.run, c.agent, c.step, c.kind)
  select 'taken' as what, run, agent, step, kind from taken
  union all select 'had', run, agent, step, kind from raymond.claims where worker = $1
  union all select 'awaited', '', '', 0, of.kind from unnest($2::text[]) as of (kind) where exists (
    select from raymond.claims where worker is null and kind = of.kind
       and (run, agent, step) not in (select run, agent, step from taken))`;

/** The claims of a worker. */
export function claimsOf(
  { query }: Queries,
  run: string,
  { id }: Claimant,
): Promise<readonly Claim[]> {
  return query<Claim>(`select ${COLUMNS} from raymond.claims where run = $1 and worker = $2`, [
    ...[run, id],
  ]);
}

/** The steps of a run that no worker executes. */
export function idleClaims({ query }: Queries, run: string): Promise<readonly Claim[]> {
  return query<Claim>(
    `select ${COLUMNS} from raymond.claims where run = $1 and (worker is null or claim = 0)`,
    [run],
  );
}

/**
 * Notes that the worker begins steps. A lost step does not begin there, so it keeps its place: the next
 * worker also finds it lost, except at that place.
 */
export function begin(
  { write }: Transaction,
  run: string,
  { place }: Claimant,
  steps: readonly StepKey[],
): void {
  if (steps.length > 0)
    write(
      `update raymond.claims c set place = coalesce(c.place, $2), claim = claim + 1
         from unnest($3::text[], $4::int[]) as t (agent, step)
        where c.run = $1 and c.agent = t.agent and c.step = t.step`,
      [run, place, ...columnsOf(steps)],
    );
}

/** Adds claims: this worker begins the steps that are here, and the others wait. */
export function add(
  { write }: Transaction,
  run: string,
  { id, place }: Claimant,
  steps: readonly (StepKey & { readonly kind: StepKind; readonly isHere: boolean })[],
): void {
  if (steps.length > 0)
    write(
      `insert into raymond.claims (run, agent, step, kind, worker, place, claim)
       select $1, agent, step, kind,
              case when here then $2::uuid end, case when here then $3 end, here::int
         from unnest($4::text[], $5::int[], $6::text[], $7::bool[]) as t (agent, step, kind, here)`,
      [
        ...[run, id, place, ...columnsOf(steps)],
        ...[steps.map(({ kind }) => kind), steps.map(({ isHere }) => isHere)],
      ],
    );
}

/** Removes the claims of steps that have ended. */
export function end({ write }: Transaction, run: string, steps: readonly StepKey[]): void {
  if (steps.length > 0)
    write(
      `delete from raymond.claims c using unnest($2::text[], $3::int[]) as t (agent, step)
        where c.run = $1 and c.agent = t.agent and c.step = t.step`,
      [run, ...columnsOf(steps)],
    );
}

/**
 * Gives the steps of a run that a worker cannot execute to the others, or to a command. They wait behind
 * the steps of other runs, so that the worker takes those first.
 */
export async function leave({ query }: Queries, run: string, worker: string): Promise<void> {
  await query(
    'update raymond.claims set worker = null, since = now() where run = $1 and worker = $2',
    [run, worker],
  );
}

/** Puts steps back that a worker has taken, but no longer wants to begin. */
export async function putBack(
  { query }: Queries,
  worker: string,
  taken: readonly StepOfRun[],
): Promise<void> {
  if (taken.length === 0) return;
  await query(
    `update raymond.claims c set worker = null
       from unnest($2::text[], $3::text[], $4::int[]) as t (run, agent, step)
      where c.worker = $1 and c.run = t.run and c.agent = t.agent and c.step = t.step`,
    [worker, taken.map(({ run }) => run), ...columnsOf(taken)],
  );
}

function columnsOf(steps: readonly StepKey[]): readonly [readonly string[], readonly number[]] {
  return [steps.map(({ agent }) => agent), steps.map(({ step }) => step)];
}
