/** Asks the person at the terminal the questions of agents, if there is a person. */
import { asksText, choiceLines, fileLines, notDecision } from '../../observe/words.ts';
import { readDecision } from '../../parse/decision.ts';
import type { OpenQuestion, Person, Reply } from '../../ports.ts';
import { NOTHING_TYPED, type TypedText } from '../../view/typed-text.ts';
import { editBelow } from '../terminal/edit-text.ts';
import { interruptOurselves } from '../terminal/signals.ts';
import { isAttended, stderr } from '../terminal/terminal.ts';

/** Puts one question to the person. */
export type AskOne = (asked: OpenQuestion, said: Said) => AskedOne;

export interface Said {
  /** Returns the problem, if the text does not answer the question, which then stays open. */
  answer(text: string): string | undefined;
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
        const problem = give(asked, reply, text);
        if (problem !== undefined) return problem;
        open.delete(asked.id);
        closeCurrent();
        askNext();
        return undefined;
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

/** Returns the problem of a text that does not answer the question. */
function give({ request }: OpenQuestion, reply: Reply, text: string): string | undefined {
  if (!request) {
    reply.answer(text);
    return undefined;
  }
  const decision = readDecision(text, request);
  if (!decision) return notDecision(text, request);
  reply.decide(decision);
  return undefined;
}

/** What the person continues with after a text that was not accepted: a wrong word is not needed again. */
export function corrected(text: string): TypedText {
  return /\s/.test(text.trim()) ? { before: text, after: '' } : NOTHING_TYPED;
}

/** Asks in lines, for a terminal without the live view. */
export const askInLines: AskOne = ({ run, agent, question, files, request }, said) => {
  stderr.say('', `${agent} ${asksText(request)}:`);
  stderr.quote(question);
  stderr.say(...fileLines(run, files), ...choiceLines(request));
  return editBelow('> ', {
    send(text) {
      const problem = said.answer(text);
      if (problem === undefined) return undefined;
      stderr.say(problem);
      return corrected(text);
    },
    // Ctrl-D means that the person does not want to answer here. Ctrl-C is passed on as a signal.
    leave: said.leave,
    interrupt: interruptOurselves,
    warn: stderr.say,
  });
};
