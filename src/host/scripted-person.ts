import type { Person } from '../ports.ts';

/** Answers questions in order with the given replies; then with `otherwise`, if there is one. */
export function scriptedPerson(replies: readonly string[], otherwise?: string): Person {
  const left = [...replies];
  return {
    ask(_question, reply) {
      const text = left.shift() ?? otherwise;
      if (text !== undefined) reply.answer(text);
    },
    withdraw: () => {},
    isPresent: () => otherwise !== undefined || left.length > 0,
    close: () => {},
  };
}
