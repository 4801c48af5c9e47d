/**
 * The messages of steps, for readers on other machines. The files of a step stay on the machine of its worker,
 * so the worker stores these records when the step ends.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { RecordName, StepKey, StepRecord } from '../ports.ts';
import type { Queries, Transaction } from './database.ts';

export interface KeptStep {
  readonly conversation: StepRecord;
  readonly files: readonly { readonly name: RecordName; readonly content: Uint8Array }[];
}

/** Stores the records of a step in a transaction of the caller. */
export function keepStep(
  { write }: Transaction,
  run: string,
  { agent, step }: StepKey,
  { conversation, files }: KeptStep,
): void {
  const packed = gzipSync(JSON.stringify(conversation));
  for (const { name, content } of [...files, { name: CONVERSATION, content: packed }])
    write(KEEP_RECORD, [run, agent, step, name, Buffer.from(content)]);
}

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

/** The conversation of a step; undefined if none is stored. */
export async function keptConversation(
  { query }: Queries,
  run: string,
  { agent, step }: StepKey,
): Promise<StepRecord | undefined> {
  const [found] = await query<{ content: Buffer }>(
    'select content from raymond.records where run = $1 and agent = $2 and step = $3 and name = $4',
    [run, agent, step, CONVERSATION],
  );
  return found && JSON.parse(gunzipSync(found.content).toString('utf8'));
}

const CONVERSATION = 'conversation';

export const KEEP_RECORD = `insert into raymond.records (run, agent, step, name, content)
  values ($1, $2, $3, $4, $5)
  on conflict (run, agent, step, name) do update set content = excluded.content`;
