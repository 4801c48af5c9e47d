/** Asks the person at the terminal the questions of agents, if there is a person. */
import { asksText } from '../../observe/words.ts';
import { readDecision } from '../../parse/decision.ts';
import type { OpenQuestion, Person, Reply } from '../../ports.ts';
import { interruptOurselves } from '../terminal/signals.ts';
import { isAttended, lineReader, stderr } from '../terminal/terminal.ts';

/** Puts one question to the person. */
export type AskOne = (asked: OpenQuestion, said: Said) => AskedOne;

export interface Said {
  answer(text: string): void;
  /** The person does not want to answer here. */
  leave(): void;
}

export interface AskedOne {
  /** The question no longer needs an answer. */
  close(): void;
}

export function personAtTerminal(isThere: boolean, askOne: AskOne, onLeave: () => void): Person {
  let isPresent = isThere && isAttended();
  const open = new Map<string, { readonly asked: OpenQuestion; readonly reply: Reply }>();
  let current: AskedOne | undefined;

  /** One question at a time; the oldest first. */
  const askNext = () => {
    const [next] = open.values();
    if (!next || current || !isPresent) return;
    const { asked, reply } = next;
    current = askOne(asked, {
      answer(text) {
        // Other text leaves the request open, and it is asked again.
        if (give(asked, reply, text)) open.delete(asked.id);
        closeCurrent();
        askNext();
      },
      leave() {
        current = undefined;
        if (open.has(asked.id)) isPresent = false;
        reply.leave();
        onLeave();
      },
    });
  };
  const closeCurrent = () => {
    const closing = current;
    current = undefined;
    closing?.close();
  };

  return {
    ask(asked, reply) {
      open.set(asked.id, { asked, reply });
      askNext();
    },
    withdraw(id) {
      const [first] = open.keys();
      if (!open.delete(id) || first !== id) return;
      closeCurrent();
      askNext();
    },
    isPresent: () => isPresent,
    close() {
      isPresent = false;
      closeCurrent();
    },
  };
}

/** Whether the text answers the question. */
function give({ request }: OpenQuestion, reply: Reply, text: string): boolean {
  if (!request) {
    reply.answer(text);
    return true;
  }
  const decision = readDecision(text, request);
  if (decision) reply.decide(decision);
  return decision !== undefined;
}

/** Asks in lines, for a terminal without the live view. */
export const askInLines: AskOne = ({ agent, question, request }, said) => {
  stderr.say('', `${agent} ${asksText(request)}:`);
  stderr.quote(question);
  const reader = lineReader();
  // Ctrl-D means that the person does not want to answer here. Ctrl-C is passed on as a signal.
  const leave = () => {
    stderr.say('');
    said.leave();
  };
  reader.once('close', leave);
  reader.on('SIGINT', interruptOurselves);
  reader.question('> ', said.answer);
  return {
    close() {
      reader.off('close', leave);
      reader.close();
    },
  };
};
