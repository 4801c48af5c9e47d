import type { RecordName, StepKey } from '../ports.ts';
import type { Queries } from '../postgres/database.ts';
import { KEEP_RECORD } from '../postgres/step-records.ts';

/** Keeps the output of a script. Of each agent only the newest stay, however long a run loops. */
export async function keepOutput(
  { query }: Queries,
  run: string,
  { agent, step }: StepKey,
  name: RecordName,
  content: Uint8Array,
): Promise<void> {
  await query(KEEP_RECORD, [run, agent, step, name, content]);
  if (step > KEPT_STEPS)
    await query(
      'delete from raymond.records where run = $1 and agent = $2 and name = $3 and step <= $4',
      [run, agent, name, step - KEPT_STEPS],
    );
}

const KEPT_STEPS = 20;
