/**
 * INV-12: A message is removed only when the journal holds what followed from it.
 *
 * Delivers messages of other processes to a run, so that no crash can lose a message.
 */
import type { RunEvent } from '../model/event.ts';
import type { Message } from '../model/message.ts';
import type { Mailbox } from '../ports.ts';
import type { WaitingMail } from '../run/hold-alone.ts';
import type { Mail } from '../run/mail.ts';

export interface DeliveryPorts {
  readonly mailbox: Mailbox;
  /** The pid of the process that works on the run. A stop may be for an earlier process. */
  readonly pid: number;
  /** When it started, if stops name that as well. */
  readonly started?: string;
  /** There is a new message. */
  readonly wake: () => void;
  /** Shows a warning about the messages to the user. */
  readonly report: (text: string) => void;
}

export interface Delivery extends WaitingMail {
  /** Messages without consequences so far stay for the next process. */
  close(): void;
}

export async function deliverMessages(ports: DeliveryPorts): Promise<Delivery> {
  const { mailbox, wake, report } = ports;
  // A stop for an earlier process with the same pid may have been put back into the mailbox.
  const pidFor = (message: Message) =>
    message.kind === 'stop' && message.started !== ports.started ? NOBODY : ports.pid;
  const delivered = new Set<Delivered>();
  let isOpen = false;
  const reading = await mailbox.read({
    onMessage(message, done) {
      delivered.add({ message, pid: pidFor(message), done, cameAfterStart: isOpen });
      wake();
    },
    onTrouble: report,
  });
  isOpen = true;

  return {
    waiting: () => [...delivered],
    async settle(mail, events) {
      for (const letter of delivered) {
        if (!mail.includes(letter)) continue;
        delivered.delete(letter);
        if (letter.cameAfterStart && isLate(letter.message, events))
          report(`${nameOf(letter.message)} came too late and was not used`);
        await letter.done().catch(() => {});
      }
    },
    close: () => reading.close(),
  };
}

const NOBODY = -1;

interface Delivered extends Mail {
  readonly done: () => Promise<void>;
  /**
   * A message from before the start may have been used by a process that died before it removed the
   * message.
   */
  readonly cameAfterStart: boolean;
}

/** Whether something else settled the question before this answer. */
function isLate(
  message: Message,
  events: readonly RunEvent[],
): message is Exclude<Message, { kind: 'stop' }> {
  if (message.kind === 'stop') return false;
  return !events.some((event) => {
    if (!('agent' in event) || event.agent !== message.agent) return false;
    if (message.kind === 'say') return event.type === 'words-said' && event.words === message.words;
    if (message.kind === 'answer' && message.signed)
      return event.type === 'answer-signed' && event.by === message.signed.by;
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

const nameOf = ({ kind, agent }: Exclude<Message, { kind: 'stop' }>) =>
  ({
    answer: `an answer to ${agent}`,
    permission: `a decision on a request of ${agent}`,
    say: `a word to ${agent}`,
  })[kind];
