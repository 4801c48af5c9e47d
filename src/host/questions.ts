import type { AskingStatus, OpenRequest, Run } from '../model/run.ts';
import type { RunStore } from '../ports.ts';

export interface Question extends AskingStatus {
  readonly agent: string;
  /** The mailbox contains an answer that the run has not used yet. */
  readonly isAnswered: boolean;
}

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

/** A permission request of a running step. */
export interface Request extends OpenRequest {
  readonly agent: string;
  readonly step: number;
  /** The mailbox contains a decision that the run has not used yet. */
  readonly isAnswered: boolean;
}

export async function requestsOf(store: RunStore, run: Run): Promise<readonly Request[]> {
  if (run.tally.asksPermission === 0) return [];
  const messages = await store.mailbox(run.id).messages();
  const decided = messages.flatMap((message) => (message.kind === 'permission' ? [message] : []));
  return [...run.agents].flatMap(([agent, { status }]) => {
    if (status.kind !== 'running') return [];
    const { step, requests } = status;
    return requests.map((open) => {
      const isAnswered = decided.some(
        (one) => one.agent === agent && one.step === step && one.request === open.request,
      );
      return { ...open, agent, step, isAnswered };
    });
  });
}

export type OpenItem = Question | ({ readonly kind: 'request' } & Request);

/** Everything of a run that waits for a person. */
export async function openItems(store: RunStore, run: Run): Promise<readonly OpenItem[]> {
  const questions = await questionsOf(store, run);
  const requests = await requestsOf(store, run);
  return [...questions, ...requests.map((one) => ({ ...one, kind: 'request' }) as const)];
}
