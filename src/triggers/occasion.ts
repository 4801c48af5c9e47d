/** The identity of an occasion: whoever sees the same cause of the same trigger derives the same id and run. */
import { createHash } from 'node:crypto';
import { runIdWith } from '../journal/run-id.ts';
import type { Occasion, OccasionCause, TriggerKey } from '../model/trigger.ts';

export function occasionOf(
  trigger: TriggerKey,
  workflowName: string,
  cause: OccasionCause,
  at: number,
): Occasion {
  const { project, workflow, name } = trigger;
  const facts = JSON.stringify([project, workflow, name, ...factsOf(cause)]);
  const id = createHash('sha256').update(facts).digest('hex').slice(0, 32);
  return { id, trigger, cause, at, run: runIdWith(workflowName, id.slice(0, 10)) };
}

function factsOf(cause: OccasionCause): readonly (string | number)[] {
  switch (cause.kind) {
    case 'schedule':
      return [cause.time];
    case 'webhook':
      return [cause.delivery];
    case 'files':
      return [cause.path, cause.identity];
  }
}
