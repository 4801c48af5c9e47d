/**
 * The claims: one row for each running step. It names the worker that executes the step, or none while
 * the step waits in a queue.
 */
import type { StepKey } from '../ports.ts';
import type { Queries } from '../postgres/database.ts';
import { enqueue } from './queue-table.ts';
import type { StepKind } from './step-kind.ts';

export interface Claim extends StepKey {
  readonly kind: StepKind;
  /** Null while the step waits in a queue. */
  readonly worker: string | null;
  /** How many workers have taken the step so far. */
  readonly claim: number;
  /** The only place where the step can have begun. */
  readonly place: string | null;
}

/** A worker, and the folder in which it keeps its steps. */
export interface Claimant {
  readonly id: string;
  readonly place: string;
}

const COLUMNS = 'agent, step, kind, worker, claim, place';

/** The claims of a worker, and those of the given agents, whoever has them. */
export function claimsFor(
  queries: Queries,
  run: string,
  { id }: Claimant,
  agents: readonly string[],
): Promise<readonly Claim[]> {
  return queries.query<Claim>(
    `select ${COLUMNS} from raymond.claims where run = $1 and (worker = $2 or agent = any($3))`,
    [run, id, agents],
  );
}

/** The steps of a run that wait in a queue. */
export function waitingClaims(queries: Queries, run: string): Promise<readonly Claim[]> {
  return queries.query<Claim>(
    `select ${COLUMNS} from raymond.claims where run = $1 and worker is null`,
    [run],
  );
}

/**
 * Gives steps that wait in a queue to a worker. A lost step does not begin there, so it keeps its place:
 * whoever takes it next finds it lost, too, except at that place.
 */
export async function take(
  queries: Queries,
  run: string,
  { id, place }: Claimant,
  steps: readonly StepKey[],
): Promise<void> {
  if (steps.length === 0) return;
  await queries.query(
    `update raymond.claims c set worker = $2, place = coalesce(c.place, $3), claim = claim + 1,
            since = now()
       from unnest($4::text[], $5::int[]) as t (agent, step)
      where c.run = $1 and c.agent = t.agent and c.step = t.step`,
    [run, id, place, ...columnsOf(steps)],
  );
}

/** Begins steps: those of `here` on this worker, the others in their queues. */
export async function begin(
  queries: Queries,
  run: string,
  { id, place }: Claimant,
  steps: readonly (StepKey & { readonly kind: StepKind; readonly isHere: boolean })[],
): Promise<void> {
  if (steps.length === 0) return;
  await queries.query(
    `insert into raymond.claims (run, agent, step, kind, worker, place, claim, enqueued)
     select $1, agent, step, kind,
            case when here then $2::uuid end, case when here then $3 end,
            here::int, 1 - here::int
       from unnest($4::text[], $5::int[], $6::text[], $7::bool[]) as t (agent, step, kind, here)`,
    [
      run,
      id,
      place,
      ...columnsOf(steps),
      steps.map(({ kind }) => kind),
      steps.map(({ isHere }) => isHere),
    ],
  );
  const waiting = steps.filter(({ isHere }) => !isHere);
  await enqueue(
    queries,
    waiting.map((step) => ({ ...step, run, enqueued: 1 })),
  );
}

/** Removes the claims of steps that have ended. */
export async function end(queries: Queries, run: string, steps: readonly StepKey[]): Promise<void> {
  if (steps.length === 0) return;
  await queries.query(
    `delete from raymond.claims c using unnest($2::text[], $3::int[]) as t (agent, step)
      where c.run = $1 and c.agent = t.agent and c.step = t.step`,
    [run, ...columnsOf(steps)],
  );
}

/** Gives the steps of a run that a worker refuses to the others, or to a command. */
export async function leave(queries: Queries, run: string, worker: string): Promise<void> {
  await queries.query('update raymond.claims set worker = null where run = $1 and worker = $2', [
    run,
    worker,
  ]);
}

function columnsOf(steps: readonly StepKey[]): readonly [readonly string[], readonly number[]] {
  return [steps.map(({ agent }) => agent), steps.map(({ step }) => step)];
}
