import { describe, expect, test } from 'vitest';
import { type FailureKind, failureSchema } from '../model/failure.ts';
import type { OtherLanes } from './lanes.ts';
import { type Recovery, recover } from './recover.ts';

const AT = 1_000_000;
const MINUTE = 60_000;
const tries = { retries: 0, isScript: false, at: AT };
const failure = (kind: (typeof kinds)[number]) => ({ kind, message: '' });
const kinds = failureSchema.shape.kind.options;
const transient = ['crashed', 'overloaded', 'connection-lost', 'idle', 'not-begun'] as const;

test.each(transient)('%s: three retries, each after a longer pause, then failure', (kind) => {
  const answers = [0, 1, 2, 3].map((retries) => recover(failure(kind), { ...tries, retries }));
  expect(answers).toEqual([
    { kind: 'retry', until: AT + 1_000 },
    { kind: 'retry', until: AT + 4_000 },
    { kind: 'retry', until: AT + 16_000 },
    { kind: 'fail' },
  ]);
});

test.each([
  ['until a minute after the reset', AT + 10 * MINUTE, AT + 11 * MINUTE],
  ['a minute when the reset has passed', AT - 10 * MINUTE, AT + MINUTE],
  ['a quarter of an hour when the reset is unknown', undefined, AT + 15 * MINUTE],
  ['at most a day', AT + 10_000 * MINUTE, AT + 24 * 60 * MINUTE],
  ['in whole milliseconds', AT + 0.5, AT + 1 + MINUTE],
])('a usage limit waits %s', (_, resetsAt, until) => {
  const limit = { ...failure('usage-limit'), ...(resetsAt !== undefined && { resetsAt }) };
  expect(recover(limit, { ...tries, retries: 3 })).toEqual({ kind: 'wait', until });
});

test.each(kinds.filter((kind) => kind !== 'usage-limit' && !transient.some((t) => t === kind)))(
  '%s fails immediately',
  (kind) => expect(recover(failure(kind), tries)).toEqual({ kind: 'fail' }),
);

test.each(kinds.filter((kind) => kind !== 'lost' && kind !== 'not-begun'))(
  'a script that may have had an effect is never retried: %s',
  (kind) => expect(recover(failure(kind), { ...tries, isScript: true })).toEqual({ kind: 'fail' }),
);

test('a script that has not begun is retried like a prompt', () => {
  const answers = [0, 3].map((retries) =>
    recover(failure('not-begun'), { ...tries, retries, isScript: true }),
  );
  expect(answers).toEqual([{ kind: 'retry', until: AT + 1_000 }, { kind: 'fail' }]);
});

test('a script whose end was not recorded is retried immediately, and only once', () => {
  const answers = [0, 1].map((retries) =>
    recover(failure('lost'), { ...tries, retries, isScript: true }),
  );
  expect(answers).toEqual([{ kind: 'retry', until: AT }, { kind: 'fail' }]);
});

describe('a fresh session in one of several lanes', () => {
  const soon = AT + 15 * MINUTE;
  const open = { next: 'other', limitedUntil: undefined };
  const limited = { next: undefined, limitedUntil: AT + 5 };
  const none = { next: undefined, limitedUntil: undefined };
  test.each<[FailureKind, number, OtherLanes, Recovery]>([
    ['overloaded', 0, open, { kind: 'retry', until: AT + 1_000 }],
    ['overloaded', 3, open, { kind: 'next-lane', why: 'overloaded', until: soon }],
    ['overloaded', 3, limited, { kind: 'retry', until: AT + 5 }],
    ['overloaded', 3, none, { kind: 'fail' }],
    ['not-logged-in', 0, open, { kind: 'next-lane', why: 'not-logged-in', until: soon }],
    ['not-logged-in', 0, none, { kind: 'fail' }],
    ['usage-limit', 0, open, { kind: 'wait', until: soon }],
    ['crashed', 3, open, { kind: 'fail' }],
    ['no-credit', 0, open, { kind: 'fail' }],
  ])('%s after %i retries', (kind, retries, others, expected) => {
    expect(recover(failure(kind), { ...tries, retries, others })).toEqual(expected);
  });
});
