import type { StepKey } from '../ports.ts';
import type { Queries } from '../postgres/database.ts';
import type { FleetPorts } from './ports.ts';
import type { StepKind } from './step-kind.ts';

/**
 * Keeps the answer of a prompt, or the output of a script. Prompts cost money, so all of their answers
 * stay. Of scripts, only the newest stay, however long a run loops.
 */
export async function keepRecord(
  { query }: Queries,
  run: string,
  step: StepKey,
  kind: StepKind,
  recordOf: FleetPorts['recordOf'],
): Promise<void> {
  const record = recordOf(run, step, kind);
  if (!record) return;
  await query(
    `insert into raymond.records (run, agent, step, name, content) values ($1, $2, $3, $4, $5)
     on conflict (run, agent, step, name) do update set content = excluded.content`,
    [run, step.agent, step.step, record.name, record.content],
  );
  if (kind === 'script' && step.step > KEPT_STEPS)
    await query(
      'delete from raymond.records where run = $1 and agent = $2 and name = $3 and step <= $4',
      [run, step.agent, record.name, step.step - KEPT_STEPS],
    );
}

const KEPT_STEPS = 20;
