/**
 * The queues as tables of DBOS. A step is put into its queue in the transaction that decides it, with a
 * function that DBOS provides in the database. So both happen, or neither.
 */
import type { StepKey } from '../ports.ts';
import type { Queries } from '../postgres/database.ts';
import type { StepKind } from './step-kind.ts';

/** The schema of the tables of DBOS. */
export const QUEUE_SCHEMA = 'raymond_dbos';
/** The name under which DBOS knows Raymond. */
export const APPLICATION = 'raymond';
/** The name of the workflow that executes one step, or several steps of an agent in a row. */
export const STEP_WORKFLOW = 'step';
/** Workers take only steps of their own version. It changes when older workers could not take a step. */
export const QUEUE_VERSION = '1';

export const queueOf = (kind: StepKind): string => `raymond-${kind}s`;

export interface QueuedStep extends StepKey {
  readonly run: string;
  readonly kind: StepKind;
  /** How many times the step has been put into its queue, with this time. */
  readonly enqueued: number;
}

export async function enqueue(queries: Queries, steps: readonly QueuedStep[]): Promise<void> {
  if (steps.length === 0) return;
  await queries.query(
    `select ${QUEUE_SCHEMA}.enqueue_workflow(
       workflow_name => $1, queue_name => t.queue, workflow_id => t.id,
       positional_args => array[to_json(t.run), to_json(t.agent), to_json(t.kind)],
       app_version => $2, application_name => $3)
       from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         as t (queue, id, run, agent, kind)`,
    [
      STEP_WORKFLOW,
      QUEUE_VERSION,
      APPLICATION,
      steps.map(({ kind }) => queueOf(kind)),
      steps.map(workflowId),
      steps.map(({ run }) => run),
      steps.map(({ agent }) => agent),
      steps.map(({ kind }) => kind),
    ],
  );
}

/** A step that was lost gets a new id, because DBOS executes an id once. */
function workflowId({ run, agent, step, enqueued }: QueuedStep): string {
  const id = `${run}:${agent}:${step}`;
  return enqueued === 1 ? id : `${id}:${enqueued}`;
}

/** The expression for the id of the workflow of a claim. */
export const CLAIM_WORKFLOW_ID = `c.run || ':' || c.agent || ':' || c.step ||
  case when c.enqueued > 1 then ':' || c.enqueued else '' end`;

/** The kinds of steps of which some wait in a queue. */
export async function awaitedKinds({ query }: Queries): Promise<ReadonlySet<string>> {
  const rows = await query<{ queue: string }>(
    `select distinct queue_name as queue from ${QUEUE_SCHEMA}.workflow_status
      where status = 'ENQUEUED' and queue_name = any($1)`,
    [KINDS.map(queueOf)],
  );
  const waiting = new Set(rows.map(({ queue }) => queue));
  return new Set(KINDS.filter((kind) => waiting.has(queueOf(kind))));
}

const KINDS: readonly StepKind[] = ['prompt', 'script'];
