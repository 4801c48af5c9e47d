import type { Person } from '../ports.ts';

/** Answers questions in order with the given replies, and no others. */
export function scriptedPerson(replies: readonly string[]): Person {
  const left = [...replies];
  return {
    ask({ request }, reply) {
      if (request) return reply.decide({ decision: request.isQuestion ? 'deny' : 'allow' });
      const text = left.shift();
      if (text !== undefined) reply.answer(text);
    },
    signs: true,
    isPresent: () => left.length > 0,
  };
}
