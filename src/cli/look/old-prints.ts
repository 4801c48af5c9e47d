/** The prints of runs whose journals do not have them: version 1 kept only the output of steps. */
import type { JournaledEvent, RunEventOf } from '../../model/event.ts';
import type { Run } from '../../model/run.ts';
import type { RecordName, StepKey, StepRecords } from '../../ports.ts';

/** Whether the event ends a step whose prints can only be in its records. */
export function isOldStep(
  event: JournaledEvent,
  before: Run | undefined,
): event is JournaledEvent & RunEventOf<'step-ended'> {
  if (event.type !== 'step-ended') return false;
  const status = before?.agents.get(event.agent)?.status;
  // Version 1 did not name the executor.
  return status?.kind === 'running' && status.executor === undefined;
}

/** Reads the prints in the output of a script, or in the last message of a prompt. */
export function oldPrints(records: StepRecords): (step: StepKey) => Promise<string> {
  return async (step) => {
    // Few runs are so old, so the parser is loaded only here.
    const { printedTexts } = await import('../../parse/print-pieces.ts');
    const { printStream } = await import('../../parse/print-stream.ts');
    for (const name of ['stdout', 'answer'] satisfies readonly RecordName[]) {
      const output = await records.read(step, name, MOST_BYTES);
      const prints = printStream();
      const text = Buffer.from(output ?? []).toString('utf8');
      const found = printedTexts([...prints.push(text), ...prints.end()]);
      if (found.length > 0) return found.join('\n');
    }
    return '';
  };
}

const MOST_BYTES = 1024 * 1024;
