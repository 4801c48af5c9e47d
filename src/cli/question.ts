/** Puts an agent's question to the person at the terminal, when there is one. */
import type { Interface } from 'node:readline';
import type { Input } from '../model/input.ts';
import type { AskingStatus } from '../model/run.ts';
import type { Observer } from '../ports.ts';
import type { RunOptions } from './options.ts';
import { lineReader, stderr } from './terminal.ts';

type Question = Pick<AskingStatus, 'question' | 'askedAt'>;

export interface Person {
  readonly observer: Observer;
  /** For a question that was asked before this process began. */
  ask(agent: string, question: Question): void;
  /** Whether somebody may still answer. */
  isThere(): boolean;
  close(): void;
}

export function questionAtTerminal(
  options: RunOptions,
  put: (input: Input) => void,
  onLeave: () => void,
): Person {
  let isThere = process.stdin.isTTY === true && stderr.isTerminal() && !options.json;
  const open = new Map<string, Question>();
  let reader: Interface | undefined;

  /** One question at a time; the oldest first. */
  const askNext = () => {
    const [next] = open;
    if (!next || reader || !isThere) return;
    const [agent, { question, askedAt }] = next;
    stderr.say('', `${agent} asks:`);
    stderr.quote(question);
    reader = lineReader();
    reader.once('close', () => {
      // Ctrl-D: nobody wants to answer here. Ctrl-C is passed on as the signal that it is.
      reader = undefined;
      if (open.has(agent)) isThere = false;
      stderr.say('');
      put({ kind: 'time-came', at: Date.now(), agent });
      onLeave();
    });
    reader.on('SIGINT', () => {
      process.kill(process.pid, 'SIGINT');
    });
    reader.question('> ', (text) => {
      open.delete(agent);
      put({ kind: 'person-answered', at: Date.now(), agent, askedAt, text });
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
  const settle = (agent: string) => {
    if (!open.delete(agent)) return;
    closeReader();
    askNext();
  };

  const ask = (agent: string, question: Question) => {
    open.set(agent, question);
    askNext();
  };

  return {
    ask,
    observer: {
      event(event) {
        if (event.type === 'agent-asked')
          ask(event.agent, { question: event.question, askedAt: event.at });
        if (event.type === 'agent-answered' || event.type === 'question-timed-out')
          settle(event.agent);
      },
      live: () => {},
    },
    isThere: () => isThere,
    close: () => {
      isThere = false;
      closeReader();
    },
  };
}
