import type { AskingStatus, Run } from '../model/run.ts';
import type { RunStore } from '../ports.ts';

export interface Question extends AskingStatus {
  readonly agent: string;
  /** The mailbox contains an answer that the run has not used yet. */
  readonly isAnswered: boolean;
}

/** The open questions of a run. */
export async function questionsOf(store: RunStore, run: Run): Promise<readonly Question[]> {
  if (run.tally.asking === 0) return [];
  const messages = await store.mailbox(run.id).messages();
  const answers = messages.flatMap((message) => (message.kind === 'answer' ? [message] : []));
  return [...run.agents].flatMap(([agent, { status }]) => {
    if (status.kind !== 'asking') return [];
    const isAnswered = answers.some(
      (answer) => answer.agent === agent && answer.askedAt === status.askedAt,
    );
    return [{ ...status, agent, isAnswered }];
  });
}
