/** What the messages of other processes mean for a run. */
import { hasSigned } from '../model/approval.ts';
import type { Input } from '../model/input.ts';
import type { Message } from '../model/message.ts';
import { isOffered } from '../model/permission.ts';
import type { Run } from '../model/run.ts';

/** A message that waits for a run. */
export interface Mail {
  readonly message: Message;
  /** The process for which a stop counts. A stop may be for an earlier one. */
  readonly pid: number;
}

export type Answer = Extract<Message, { kind: 'answer' | 'permission' }>;

/** The input of a message; undefined if the message is for an earlier process. */
export function inputFrom({ message, pid }: Mail, at: number): Input | undefined {
  if (message.kind === 'stop')
    return message.pid === pid ? { kind: 'stop', at, how: message.how } : undefined;
  if (message.kind === 'permission') return { ...message, kind: 'permission-decided', at };
  if (message.kind === 'say') return { ...message, kind: 'person-said', at };
  const { agent, askedAt, text, by, signed, files } = message;
  const signatures = signed && [signed];
  return { kind: 'person-answered', at, agent, askedAt, text, by, signatures, files };
}

/** Whether a message can no longer have an effect on the run. */
export function isSettled({ message, pid }: Mail, { agents, status, said }: Run): boolean {
  if (message.kind === 'stop') {
    if (message.pid !== pid || status.kind === 'ended') return true;
    return status.kind === 'stopping' && (status.how === 'now' || message.how === 'drain');
  }
  if (message.kind === 'say') return said.has(message.words) || !agents.has(message.agent);
  const asking = agents.get(message.agent)?.status;
  if (message.kind === 'permission') {
    if (asking?.kind !== 'running' || asking.step !== message.step) return true;
    const open = asking.requests.find(({ request }) => request === message.request);
    return !open || !isOffered(open, message.decision);
  }
  if (asking?.kind !== 'asking' || asking.askedAt !== message.askedAt) return true;
  // Only a signature of somebody who has not signed yet changes a question that needs signatures.
  const { signed } = message;
  return asking.approval !== undefined && (!signed || hasSigned(asking.signed ?? [], signed));
}
