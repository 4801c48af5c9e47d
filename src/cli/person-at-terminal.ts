/** Asks the person at the terminal the questions of agents, if there is a person. */
import type { Interface } from 'node:readline';
import type { RunOptions } from '../options/run-options.ts';
import type { OpenQuestion, Person, Reply } from '../ports.ts';
import { interruptOurselves } from './signals.ts';
import { isAttended, lineReader, stderr } from './terminal.ts';

export function personAtTerminal({ json }: RunOptions, onLeave: () => void): Person {
  let isPresent = isAttended() && !json;
  const open = new Map<string, { readonly asked: OpenQuestion; readonly reply: Reply }>();
  let reader: Interface | undefined;

  /** One question at a time; the oldest first. */
  const askNext = () => {
    const [next] = open.values();
    if (!next || reader || !isPresent) return;
    const { asked, reply } = next;
    stderr.say('', `${asked.agent} asks:`);
    stderr.quote(asked.question);
    reader = lineReader();
    reader.once('close', () => {
      // Ctrl-D means that the person does not want to answer here. Ctrl-C is passed on as a signal.
      reader = undefined;
      if (open.has(asked.agent)) isPresent = false;
      stderr.say('');
      reply.leave();
      onLeave();
    });
    reader.on('SIGINT', interruptOurselves);
    reader.question('> ', (text) => {
      open.delete(asked.agent);
      reply.answer(text);
      closeReader();
      askNext();
    });
  };
  const closeReader = () => {
    const closing = reader;
    reader = undefined;
    closing?.removeAllListeners('close');
    closing?.close();
  };

  return {
    ask(asked, reply) {
      open.set(asked.agent, { asked, reply });
      askNext();
    },
    withdraw(agent) {
      if (!open.delete(agent)) return;
      closeReader();
      askNext();
    },
    isPresent: () => isPresent,
    close() {
      isPresent = false;
      closeReader();
    },
  };
}
