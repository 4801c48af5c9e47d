/**
 * The messages of steps, for readers on other machines. The files of a step stay on the machine of its worker,
 * so the worker stores these records when the step ends.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { bounded } from '../model/bounded-text.ts';
import { MOST_CHARACTERS } from '../model/conversation.ts';
import { STEP_FILES } from '../model/step-files.ts';
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

/** What a step said; undefined if nothing is stored. Of a script, only its output is. */
export async function keptConversation(
  { query }: Queries,
  run: string,
  { agent, step }: StepKey,
): Promise<StepRecord | undefined> {
  const found = await query<{ name: string; content: Buffer }>(
    'select name, content from raymond.records where run = $1 and agent = $2 and step = $3 and name = any($4)',
    [run, agent, step, [CONVERSATION, STEP_FILES.stdout.name]],
  );
  const conversation = found.find(({ name }) => name === CONVERSATION);
  if (conversation) return JSON.parse(gunzipSync(conversation.content).toString('utf8'));
  const [output] = found;
  if (!output) return undefined;
  const message = bounded(output.content.toString('utf8'), MOST_CHARACTERS);
  const cursor = String(output.content.length);
  return {
    told: undefined,
    messages: [{ kind: 'stdout', ...message }],
    omitted: 0,
    cursor,
    isKept: true,
  };
}

const CONVERSATION = 'conversation';

const KEEP_RECORD = `insert into raymond.records (run, agent, step, name, content)
  values ($1, $2, $3, $4, $5)
  on conflict (run, agent, step, name) do update set content = excluded.content`;
