import type { RunPaths } from '../journal/project.ts';
import type { AskingStatus, Run } from '../model/run.ts';
import { mailboxOf } from './store.ts';

export interface Question extends AskingStatus {
  readonly agent: string;
  /** An answer lies in the inbox, to be taken by the run. */
  readonly isAnswered: boolean;
}

/** The questions that are open in a run. */
export async function questionsOf(run: Run, paths: RunPaths): Promise<readonly Question[]> {
  if (run.tally.asking === 0) return [];
  const messages = await mailboxOf(run.id, paths).messages();
  const answers = messages.flatMap((message) => (message.kind === 'answer' ? [message] : []));
  return [...run.agents].flatMap(([agent, { status }]) => {
    if (status.kind !== 'asking') return [];
    const isAnswered = answers.some(
      (answer) => answer.agent === agent && answer.askedAt === status.askedAt,
    );
    return [{ ...status, agent, isAnswered }];
  });
}
