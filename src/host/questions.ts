/** What of a run waits for a person: questions of its workflow, and permission requests of its steps. */
import { agreed, hasSigned, type Signed } from '../model/approval.ts';
import type { Message } from '../model/message.ts';
import type { AskingStatus, OpenRequest, Run } from '../model/run.ts';
import type { RunStore } from '../ports.ts';

export interface Question extends AskingStatus {
  readonly agent: string;
  /** The mailbox contains an answer that the run has not used yet. */
  readonly isAnswered: boolean;
}

/** A permission request of a running step. */
export interface Request extends OpenRequest {
  readonly kind: 'request';
  readonly agent: string;
  readonly step: number;
  /** The mailbox contains a decision that the run has not used yet. */
  readonly isAnswered: boolean;
}

export type OpenItem = Question | Request;

/** The questions come first. */
export async function openItems(store: RunStore, run: Run): Promise<readonly OpenItem[]> {
  const { questions, requests } = await openByKind(store, run);
  return [...questions, ...requests];
}

export async function openByKind(
  store: RunStore,
  { id, tally, agents }: Run,
): Promise<{ readonly questions: readonly Question[]; readonly requests: readonly Request[] }> {
  const questions: Question[] = [];
  const requests: Request[] = [];
  if (tally.asking + tally.asksPermission === 0) return { questions, requests };
  const messages = await store.mailbox(id).messages();
  for (const [agent, { status }] of agents) {
    const has = (answers: (message: Message) => boolean) =>
      messages.some((one) => one.kind !== 'stop' && one.agent === agent && answers(one));
    if (status.kind === 'asking') {
      const { askedAt, approval } = status;
      if (approval) {
        const signed = [...(status.signed ?? []), ...signedIn(messages, agent, status)];
        const isAnswered = signed.some(({ text }) => agreed(approval, signed, text));
        questions.push({ ...status, agent, signed, isAnswered });
        continue;
      }
      const isAnswered = has((one) => one.kind === 'answer' && one.askedAt === askedAt);
      questions.push({ ...status, agent, isAnswered });
    }
    if (status.kind !== 'running') continue;
    const { step } = status;
    for (const open of status.requests) {
      const isAnswered = has(
        (one) => one.kind === 'permission' && one.step === step && one.request === open.request,
      );
      requests.push({ ...open, kind: 'request', agent, step, isAnswered });
    }
  }
  return { questions, requests };
}

export interface SavedWords {
  readonly agent: string;
  readonly text: string;
  readonly by?: string | undefined;
}

/** The words of people in the mailbox that the run has not taken yet. */
export async function savedWords(
  store: RunStore,
  { id, agents, said }: Run,
): Promise<readonly SavedWords[]> {
  if (agents.size === 0) return [];
  const messages = await store.mailbox(id).messages();
  return messages.flatMap((one) =>
    one.kind === 'say' && said.get(one.words) === undefined ? [one] : [],
  );
}

/** The signed answers that the run has not used yet. */
function signedIn(
  messages: readonly Message[],
  agent: string,
  { askedAt, signed = [] }: AskingStatus,
): readonly Signed[] {
  return messages.flatMap((one) => {
    if (one.kind !== 'answer' || one.agent !== agent || one.askedAt !== askedAt) return [];
    if (!one.signed || hasSigned(signed, one.signed)) return [];
    return [{ by: one.signed.by, key: one.signed.key, text: one.text }];
  });
}
