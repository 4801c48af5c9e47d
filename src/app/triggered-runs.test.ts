import { expect, test } from 'vitest';
import { newRun } from '../interpret/new-run.ts';
import type { RunOutcome } from '../model/event.ts';
import type { RunStatus } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { LookedAtRun } from '../ports.ts';
import { standingOf } from './triggered-runs.ts';

const NOW = 1_000_000;

const found = (status: RunStatus, more: { readonly isOwn?: boolean; readonly agoMs?: number }) => {
  const { isOwn = true, agoMs = 0 } = more;
  const run = { ...newRun, status, updatedAt: NOW - agoMs };
  const one: LookedAtRun = { kind: 'stored', id: 'r', run, isOwn, owner: undefined };
  return one;
};
const ended = (outcome: RunOutcome): RunStatus => ({ kind: 'ended', outcome });

const unreadable = (code: string): LookedAtRun => ({
  ...{ kind: 'damaged', id: 'r', problem: new UserError(code, 'It is damaged.', '') },
});
const STOPPING: RunStatus = { kind: 'stopping', how: 'drain', why: 'person' };

test.each<[what: string, run: LookedAtRun, standing: string]>([
  ['one that does not exist', unreadable('no-run'), 'none'],
  ['one whose process ended before its first event', unreadable('journal-empty'), 'none'],
  ['one that has lost its journal', unreadable('journal-emptied'), 'failed'],
  ['one that is completed', found(ended('completed'), {}), 'completed'],
  ['one that a person stopped is over', found(ended('interrupted'), {}), 'failed'],
  ['one that has spent its budget', found(ended('stopped: budget'), {}), 'failed'],
  ['one that waits for an answer is live', found(ended('waiting'), {}), 'live'],
  ['one without a process has crashed', found({ kind: 'active' }, {}), 'crashed'],
  ['one that crashed while a person stopped it', found(STOPPING, {}), 'failed'],
  ["a stranger's is not resumed", found({ kind: 'active' }, { isOwn: false }), 'failed'],
  ['one in a shutdown is left to the next process', found(ended('stopped: shutdown'), {}), 'live'],
  [
    'one that the system stopped, without a shutdown, is resumed',
    found(ended('stopped: shutdown'), { agoMs: 30_000 }),
    'crashed',
  ],
  [
    "a stranger's that was shut down is not resumed",
    found(ended('stopped: shutdown'), { isOwn: false, agoMs: 30_000 }),
    'failed',
  ],
])('%s', (_what, run, standing) => {
  expect(standingOf(run, NOW)).toBe(standing);
});
