import type { Person } from '../ports.ts';
import type { SkippingClock } from './skipping-clock.ts';

/**
 * Plays the person in a rehearsal, first with the given replies, then with varied ones, so that a loop
 * that waits for a certain answer ends. Every second question with a deadline gets no answer.
 */
export function rehearsedPerson(
  replies: readonly string[],
  clock: Pick<SkippingClock, 'skipTo'>,
): Person {
  const left = [...replies];
  const turns = new Map<string, number>();
  return {
    ask({ agent, deadline, request }, reply) {
      if (request) return reply.decide({ decision: request.isQuestion ? 'deny' : 'allow' });
      const given = left.shift();
      if (given !== undefined) {
        reply.answer(given);
        return;
      }
      const turn = turns.get(agent) ?? 0;
      turns.set(agent, turn + 1);
      if (deadline === undefined) reply.answer(varied(turn));
      else if (turn % 2 === 0) reply.answer(varied(turn / 2));
      else clock.skipTo(deadline);
    },
    signs: true,
    isPresent: () => true,
  };
}

const REPLIES = ['rehearsed', 'yes', 'no'];

const varied = (turn: number) => REPLIES[turn % REPLIES.length] ?? '';
