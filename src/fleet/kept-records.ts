import type { RecordName, StepKey } from '../ports.ts';
import type { Transaction } from '../postgres/database.ts';
import { KEEP_RECORD } from '../postgres/step-records.ts';

/** Keeps the output of a script. Of each agent only the newest stay, however long a run loops. */
export function keepOutput(
  { write }: Transaction,
  run: string,
  { agent, step }: StepKey,
  name: RecordName,
  content: Uint8Array,
): void {
  write(KEEP_RECORD, [run, agent, step, name, content]);
  if (step > KEPT_STEPS)
    write(
      'delete from raymond.records where run = $1 and agent = $2 and name = $3 and step <= $4',
      [run, agent, name, step - KEPT_STEPS],
    );
}

const KEPT_STEPS = 20;
