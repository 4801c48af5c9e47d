import type { ScriptedAnswer } from '../execute/rehearsal/scripted.ts';
import { writtenFailure } from '../parse/rehearsal-file.ts';
import { stemOf } from '../parse/state.ts';
import type { Recorded } from '../parse/test-file.ts';
import type { Step } from '../ports.ts';

/** Answers the steps of each agent with its recorded answers, in order. */
export function replayAnswers(recorded: readonly Recorded[]): (step: Step) => ScriptedAnswer {
  const queues = new Map<string, RecordedEnd[]>();
  for (const entry of recorded) {
    if (!('state' in entry)) continue;
    const queue = queues.get(entry.agent) ?? [];
    queue.push(entry);
    queues.set(entry.agent, queue);
  }
  return (step) => {
    const entry = queues.get(step.agent)?.shift();
    if (!entry || stemOf(entry.state) !== stemOf(step.state)) {
      const instead = entry ? `has ${entry.state} here` : 'has no more steps of this agent';
      return refusal(`${step.agent} is in ${step.state}, but the recording ${instead}.`);
    }
    const costUsd = entry.cost ?? 0;
    if ('answer' in entry) {
      const { answer: text, exit, denied = [] } = entry;
      return { text, costUsd, denied, ...(exit !== undefined && { exit }) };
    }
    // The output of a stopped step has no consequences.
    if ('stopped' in entry) return { text: '', costUsd };
    const { resets_at: resetsAt } = entry;
    const failure = writtenFailure(entry);
    return { failure: resetsAt === undefined ? failure : { ...failure, resetsAt }, costUsd };
  };
}

type RecordedEnd = Extract<Recorded, { state: string }>;

function refusal(message: string): ScriptedAnswer {
  return { failure: { kind: 'refused', message }, costUsd: 0 };
}
