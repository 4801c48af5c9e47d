import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Numbered, seenEvents, withBatch } from './seen-events.ts';

const events = (from: number, to: number): readonly Numbered[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ seq: from + i }));

test('a batch that repeats events adds only the new ones', () => {
  const first = withBatch(seenEvents(10), events(11, 13));
  const second = first && withBatch(first, events(12, 15));
  expect(second?.newest).toEqual(events(11, 15));
  expect(second?.position).toBe(15);
});

test('a missing event is noticed', () => {
  expect(withBatch(seenEvents(10), events(12, 13))).toBeUndefined();
});

test('connections that break anywhere lose and double nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), fc.nat(20))), (connections) => {
      let seen = seenEvents(0);
      for (const [back, length] of connections) {
        const from = Math.max(1, seen.position + 1 - back);
        seen = withBatch(seen, events(from, from + length - 1)) ?? seenEvents(-1);
      }
      expect(seen.newest).toEqual(events(1, seen.position));
    }),
  );
});

test('only the newest events are kept', () => {
  const seen = withBatch(seenEvents(0), events(1, 100_000));
  expect(seen?.newest.length).toBe(1_000);
  expect(seen?.newest.at(-1)).toEqual({ seq: 100_000 });
});
