/** Reads what a step said on the machine of a worker, and packs it there. */
import type {
  RecordName,
  StepKey,
  StepKind,
  StepNews,
  StepReader,
  StepRecord,
} from '../../ports.ts';
import type { Database } from '../../postgres/database.ts';
import { type KeptStep, keptConversation } from '../../postgres/step-records.ts';
import type { Surroundings } from '../surroundings.ts';
import { stepReaderOf } from '../wire.ts';

/** The files of steps on this machine come first: they are complete, also while a step runs. */
export function stepsAnywhere(around: FilesOfSteps, database: () => Promise<Database>): StepReader {
  const local = stepsHere(around);
  const stored = async (run: string, step: StepKey) =>
    step.agent.includes('\0') ? undefined : keptConversation(await database(), run, step);
  return {
    async read(run, step, kind) {
      const here = await local.read(run, step, kind);
      return here.isKept ? here : ((await stored(run, step)) ?? ELSEWHERE);
    },
    async *follow(run, step, kind, more) {
      const here = await local.read(run, step, kind);
      if (here.isKept) yield* local.follow(run, step, kind, more);
      else yield* atEnd(() => stored(run, step), more);
    },
  };
}

/** Not an error: the page shows it in place of the conversation. */
const ELSEWHERE: StepRecord = {
  told: undefined,
  messages: [
    {
      kind: 'note',
      text: 'The messages of this step are on the machine of its worker. What it said is stored when it ends.',
      omitted: 0,
    },
  ],
  omitted: 0,
  cursor: '0',
  isKept: true,
};

async function* atEnd(
  stored: () => Promise<StepRecord | undefined>,
  { after, until }: Parameters<StepReader['follow']>[3],
): AsyncGenerator<StepNews> {
  await until.catch(() => {});
  const record = await stored();
  if (record && record.messages.length > 0 && record.cursor !== after)
    yield { kind: 'messages', cursor: record.cursor, messages: record.messages };
}

type FilesOfSteps = Pick<Surroundings, 'recordsHere' | 'workspace'>;

function stepsHere({ recordsHere, workspace }: FilesOfSteps): StepReader {
  return stepReaderOf({ store: { records: recordsHere }, workspace });
}

/** For a worker, when it has executed a step. */
export async function packStep(
  around: FilesOfSteps,
  run: string,
  step: StepKey,
  kind: StepKind,
): Promise<KeptStep> {
  const records = around.recordsHere(run);
  const files: { name: RecordName; content: Uint8Array }[] = [];
  for (const name of kind === 'prompt' ? (['answer'] as const) : (['stdout', 'stderr'] as const)) {
    const content = await records.read(step, name, MOST_BYTES);
    if (content) files.push({ name, content });
  }
  return { conversation: await stepsHere(around).read(run, step, kind), files };
}

/** A longer output stays on the machine of the worker. */
const MOST_BYTES = 4 * 1024 * 1024;
