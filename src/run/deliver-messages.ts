/**
 * INV-12: A message is removed only when the journal holds what followed from it.
 *
 * Delivers messages of other processes to a run. So no crash can lose a message.
 */
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Message } from '../model/message.ts';
import type { Run } from '../model/run.ts';
import type { Clock, Journal, Mailbox } from '../ports.ts';

export interface DeliveryPorts {
  readonly mailbox: Mailbox;
  /** Of the process that works on the run: a stop may mean an earlier one. */
  readonly pid: number;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly put: (input: Input) => void;
  /** Something that a person should know about the messages. */
  readonly report: (text: string) => void;
}

export interface Delivery {
  /** The run's journal, to be used in place of the given one. */
  readonly journal: Journal;
  /** Messages that nothing has followed from yet stay for the next process. */
  close(): void;
}

export async function deliverMessages(ports: DeliveryPorts): Promise<Delivery> {
  const { mailbox, pid, clock, put, report } = ports;
  const delivered = new Set<Delivered>();
  let isOpen = false;
  const reading = await mailbox.read({
    onMessage(message, done) {
      delivered.add({ message, done, cameLater: isOpen });
      const input = inputFrom(message, pid, clock.now());
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
          if (!isSettled(letter.message, after, pid)) continue;
          delivered.delete(letter);
          if (letter.cameLater && isLate(letter.message, events))
            report(`an answer to ${letter.message.agent} came too late and was not used`);
          await letter.done().catch(() => {});
        }
      },
    },
    close: () => reading.close(),
  };
}

interface Delivered {
  readonly message: Message;
  readonly done: () => Promise<void>;
  /** What was there from the beginning may have been taken by a process that died then. */
  readonly cameLater: boolean;
}

/** What a message means for the run; nothing when it meant a process before this one. */
function inputFrom(message: Message, pid: number, at: number): Input | undefined {
  if (message.kind === 'stop')
    return message.pid === pid ? { kind: 'stop', at, how: message.how } : undefined;
  const { agent, askedAt, text } = message;
  return { kind: 'person-answered', at, agent, askedAt, text };
}

/** Whether a run has nothing to expect from a message any more. */
function isSettled(message: Message, { agents, status }: Run, pid: number): boolean {
  if (message.kind === 'stop') {
    if (message.pid !== pid || status.kind === 'ended') return true;
    return status.kind === 'stopping' && (status.how === 'now' || message.how === 'drain');
  }
  const asking = agents.get(message.agent)?.status;
  return asking?.kind !== 'asking' || asking.askedAt !== message.askedAt;
}

type Answer = Extract<Message, { kind: 'answer' }>;

/** Whether an answer found its question settled by something else. */
function isLate(message: Message, events: readonly RunEvent[]): message is Answer {
  if (message.kind !== 'answer') return false;
  const { agent, text } = message;
  return !events.some(
    (event) => event.type === 'agent-answered' && event.agent === agent && event.text === text,
  );
}
