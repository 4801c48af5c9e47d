import { expect, test } from 'vitest';
import { type ExitProbe, waitForExit } from './adopt.ts';
import type { Exit } from './record.ts';

const EXIT: Exit = { kind: 'exited', code: 7 };

/** A process that writes its exit and ends, immediately after it was read the given number of times. */
function processThatEndsAfter(reads: number, exit: Exit | undefined = EXIT): ExitProbe {
  let count = 0;
  const read = <T>(living: T, ended: T): T => (count++ < reads ? living : ended);
  return {
    isAlive: () => read(true, false),
    readExit: () => read(undefined, exit),
    change: async () => {},
  };
}

test.each([0, 1, 2, 3, 4])(
  'finds the exit of a process that ends after %d reads',
  async (reads) => {
    expect(await waitForExit(processThatEndsAfter(reads))).toEqual(EXIT);
  },
);

test.each([0, 1, 2, 3])(
  'reports an exit that was not written as unknown, after %d reads',
  async (reads) => {
    const silent = { ...processThatEndsAfter(reads), readExit: () => undefined };
    expect(await waitForExit(silent)).toEqual({ kind: 'unknown' });
  },
);
