import type { JournaledEvent } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';
import type { RunStore } from '../ports.ts';
import { type Answer, isSettled } from '../run/mail.ts';
import { openRun } from './open-run.ts';

/**
 * Posts an answer to a question, or a decision about a permission request. Resolves only if it counts: it
 * is the first one, and nothing else has settled the question.
 */
export async function reply(store: RunStore, id: string, answer: Answer): Promise<void> {
  if (!(await store.mailbox(id).post(answer))) throw answeredAlready(id, answer.agent);
  const { run } = await openRun(store, id);
  if (
    !isSettled({ message: answer, pid: NO_PROCESS }, run) ||
    (await wasTaken(store.events(id), answer))
  )
    return;
  throw new UserError(
    'question-settled',
    `The question of ${answer.agent} in ${id} was settled at the same time. Your answer was not used.`,
    `To see the run: raymond show ${id}`,
  );
}

/** Only stops are for one process. */
const NO_PROCESS = -1;

async function wasTaken(events: AsyncIterable<JournaledEvent>, answer: Answer): Promise<boolean> {
  let isAsked = false;
  for await (const event of events) {
    if (!('agent' in event) || event.agent !== answer.agent) continue;
    if (answer.kind === 'answer') {
      if (event.type === 'answer-signed') {
        if (isAsked && event.by === answer.signed?.by) return event.text === answer.text;
        continue;
      }
      if (isAsked && event.type === 'agent-answered') return event.text === answer.text;
      // Other events of an agent that waits, such as words for it, do not settle its question.
      if (event.type === 'agent-asked') isAsked = event.at === answer.askedAt;
    } else if (event.type === 'permission-answered') {
      const { step, request, decision, text } = answer;
      if (event.step === step && event.request === request)
        return event.decision === decision && event.text === text;
    }
  }
  return false;
}

export function answeredAlready(id: string, agent: string): UserError {
  return new UserError(
    'question-answered',
    `The question of ${agent} in ${id} already has an answer. Raymond did not change it.`,
    `The run uses that answer when it continues: raymond resume ${id}`,
  );
}
