import type { Input } from '../model/input.ts';
import type { Person } from './question.ts';

/** Answers questions in a rehearsal: with the replies that were written down, then with a placeholder. */
export function rehearsedPerson(replies: readonly string[], put: (input: Input) => void): Person {
  const left = [...replies];
  const ask: Person['ask'] = (agent, { askedAt }) => {
    const text = left.shift() ?? 'rehearsed';
    put({ kind: 'person-answered', at: Date.now(), agent, askedAt, text });
  };
  return {
    ask,
    observer: {
      event(event) {
        if (event.type === 'agent-asked')
          ask(event.agent, { question: event.question, askedAt: event.at });
      },
      live: () => {},
    },
    isThere: () => true,
    close: () => {},
  };
}
