/**
 * INV-12: A message is removed only when the journal holds what followed from it.
 *
 * Delivers messages of other processes to a run, so that no crash can lose a message.
 */
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Message } from '../model/message.ts';
import { isOffered } from '../model/permission.ts';
import type { Run } from '../model/run.ts';
import type { Clock, Journal, Mailbox } from '../ports.ts';

export interface DeliveryPorts {
  readonly mailbox: Mailbox;
  /** The pid of the process that works on the run. A stop may be for an earlier process. */
  readonly pid: number;
  /** When it started, if stops name that as well. */
  readonly started?: string;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly put: (input: Input) => void;
  /** Shows a warning about the messages to the user. */
  readonly report: (text: string) => void;
}

export interface Delivery {
  /** The journal to use in place of the given one. */
  readonly journal: Journal;
  /** Messages without consequences so far stay for the next process. */
  close(): void;
}

export async function deliverMessages(ports: DeliveryPorts): Promise<Delivery> {
  const { mailbox, clock, put, report } = ports;
  // A stop for an earlier process with the same pid may have been put back into the mailbox.
  const pidFor = (message: Message) =>
    message.kind === 'stop' && message.started !== ports.started ? NOBODY : ports.pid;
  const delivered = new Set<Delivered>();
  let isOpen = false;
  const reading = await mailbox.read({
    onMessage(message, done) {
      delivered.add({ message, done, cameAfterStart: isOpen });
      const input = inputFrom(message, pidFor(message), clock.now());
      if (input) put(input);
    },
    onTrouble: report,
  });
  isOpen = true;

  return {
    journal: {
      async append(events, after) {
        await ports.journal.append(events, after);
        for (const letter of delivered) {
          if (!isSettled(letter.message, after, pidFor(letter.message))) continue;
          delivered.delete(letter);
          if (letter.cameAfterStart && isLate(letter.message, events))
            report(`${nameOf(letter.message)} came too late and was not used`);
          await letter.done().catch(() => {});
        }
      },
    },
    close: () => reading.close(),
  };
}

const NOBODY = -1;

interface Delivered {
  readonly message: Message;
  readonly done: () => Promise<void>;
  /**
   * A message from before the start may have been used by a process that died before it removed the
   * message.
   */
  readonly cameAfterStart: boolean;
}

/** The input of a message; undefined if the message is for an earlier process. */
export function inputFrom(message: Message, pid: number, at: number): Input | undefined {
  if (message.kind === 'stop')
    return message.pid === pid ? { kind: 'stop', at, how: message.how } : undefined;
  if (message.kind === 'permission') return { ...message, kind: 'permission-decided', at };
  const { agent, askedAt, text } = message;
  return { kind: 'person-answered', at, agent, askedAt, text };
}

/** Whether a message can no longer have an effect on the run. */
export function isSettled(message: Message, { agents, status }: Run, pid: number): boolean {
  if (message.kind === 'stop') {
    if (message.pid !== pid || status.kind === 'ended') return true;
    return status.kind === 'stopping' && (status.how === 'now' || message.how === 'drain');
  }
  const asking = agents.get(message.agent)?.status;
  if (message.kind === 'permission') {
    if (asking?.kind !== 'running' || asking.step !== message.step) return true;
    const open = asking.requests.find(({ request }) => request === message.request);
    return !open || !isOffered(open, message.decision);
  }
  return asking?.kind !== 'asking' || asking.askedAt !== message.askedAt;
}

export type Answer = Extract<Message, { kind: 'answer' | 'permission' }>;

/** Whether something else settled the question before this answer. */
function isLate(message: Message, events: readonly RunEvent[]): message is Answer {
  if (message.kind === 'stop') return false;
  return !events.some((event) => {
    if (!('agent' in event) || event.agent !== message.agent) return false;
    if (message.kind === 'answer')
      return event.type === 'agent-answered' && event.text === message.text;
    const { request, decision, text } = message;
    return (
      event.type === 'permission-answered' &&
      event.request === request &&
      event.decision === decision &&
      event.text === text
    );
  });
}

const nameOf = ({ kind, agent }: Answer) =>
  kind === 'answer' ? `an answer to ${agent}` : `a decision on a request of ${agent}`;
