import { expect, test } from 'vitest';
import type { Happening } from './messages.ts';
import { TurnWords } from './turn-words.ts';

const INIT: Happening = { kind: 'init', model: 'm', version: '2' };
const RESULT: Happening = {
  ...{ kind: 'result', isError: false, subtype: 'success', denials: [], errors: [] },
};
const heard = (uuid: string): Happening => ({ kind: 'heard', uuid });

function turn(lateMs?: number) {
  const log: string[] = [];
  const words = new TurnWords({
    send: (id) => log.push(`send ${id}`),
    onHeard: (id) => log.push(`heard ${id}`),
    onLate: () => log.push('late'),
    ...(lateMs !== undefined && { lateMs }),
  });
  const isOver = (...happenings: readonly Happening[]) => {
    for (const one of happenings) words.handle(one);
    return words.isOver;
  };
  return { words, log, isOver };
}

test('words wait until the turn has begun', () => {
  const { words, log, isOver } = turn();
  words.say('a', 'x');
  expect(log).toEqual([]);
  expect(isOver(INIT)).toBe(false);
  words.say('b', 'x');
  words.say('a', 'x');
  expect(log).toEqual(['send a', 'send b']);
});

test('a turn with unheard words is not over with its result', () => {
  const { words, log, isOver } = turn();
  isOver(INIT);
  words.say('a', 'x');
  expect(isOver(RESULT)).toBe(false);
  expect(isOver(heard('a'))).toBe(false);
  expect(isOver(RESULT)).toBe(true);
  words.say('b', 'x');
  expect(log).toEqual(['send a', 'heard a']);
  words.close(() => false);
});

test('a process that adopts a turn sends the words again, and reads what became of them', () => {
  const { words, log, isOver } = turn();
  words.say('a', 'x');
  expect(isOver(INIT, RESULT)).toBe(false);
  expect(isOver(heard('a'), RESULT)).toBe(true);
  expect(log).toEqual(['send a', 'heard a']);
});

test('words that the conversation has count as heard when the output has ended', () => {
  const { words, log, isOver } = turn();
  isOver(INIT);
  words.say('a', 'x');
  words.say('b', 'x');
  words.close((id) => id === 'a');
  expect(log).toEqual(['send a', 'send b', 'heard a']);
  expect(words.heard).toEqual(['a']);
  expect(words.sent).toEqual(['b']);
});

test('a process that never takes the words is ended', async () => {
  const late = new Promise<void>((resolve) => {
    const words = new TurnWords({ send: () => {}, onHeard: () => {}, onLate: resolve, lateMs: 1 });
    words.handle(INIT);
    words.say('a', 'x');
    words.handle(RESULT);
  });
  await late;
});
