import { expect, test } from 'vitest';
import { exitOnceOver, type Looks } from './adopt.ts';
import type { Exit } from './record.ts';

const EXIT: Exit = { kind: 'exited', code: 7 };

/** A process that writes how it ends and then ends, right after it was looked at so many times. */
function processThatEndsAfter(looks: number, exit: Exit | undefined = EXIT): Looks {
  let seen = 0;
  const look = <T>(living: T, ended: T): T => (seen++ < looks ? living : ended);
  return {
    isAlive: () => look(true, false),
    readExit: () => look(undefined, exit),
    change: async () => {},
  };
}

test.each([0, 1, 2, 3, 4])('an end between any two looks is not lost: after %d', async (looks) => {
  expect(await exitOnceOver(processThatEndsAfter(looks))).toEqual(EXIT);
});

test.each([0, 1, 2, 3])('an end that was not written is unknown: after %d', async (looks) => {
  const silent = { ...processThatEndsAfter(looks), readExit: () => undefined };
  expect(await exitOnceOver(silent)).toEqual({ kind: 'unknown' });
});
