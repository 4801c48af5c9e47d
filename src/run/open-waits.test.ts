import { expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { apply } from '../interpret/apply.ts';
import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { deadlineOf } from '../model/tally.ts';
import { OpenWaits } from './open-waits.ts';

const HOUR = 3_600_000;

/** A run whose agent has a question with a deadline, and its waits. */
function asking() {
  const stage = makeRun({ START: [], N: [] });
  let run = stage.run;
  const waits = new OpenWaits(run);
  const follow = (...events: readonly RunEvent[]) => {
    for (const event of events) {
      const before = run;
      run = apply(run, event);
      waits.follow({ event, before, after: run });
      expect(sorted(waits.over(Number.POSITIVE_INFINITY))).toEqual(sorted(waitsOf(run)));
    }
  };
  follow(...stage.start(), ...stage.end('<ask next="N" timeout="3h" timeout_next="N">?</ask>'));
  return { follow, waits, asked: stage.run.updatedAt };
}

/** All waits, found by looking at every agent. */
function waitsOf({ agents, limits }: Run) {
  return [
    ...Object.entries(limits).map(([limit, until]) => ({ limit, until })),
    ...[...agents].flatMap(([agent, { status }]) => {
      const until = status.kind === 'waiting' ? status.until : deadlineOf(status);
      return until === undefined ? [] : [{ agent, until }];
    }),
  ];
}

const limit = (until: number): RunEvent => ({
  ...{ type: 'usage-limited', at: 1, agent: 'another', executor: 'claude', until },
});

const sorted = (waits: readonly unknown[]) => waits.map((one) => JSON.stringify(one)).sort();

test('the next look is at the first end, whatever happens to the others', () => {
  const { follow, waits, asked } = asking();
  expect(waits.nextLook(asked, [])).toBe(asked + 3 * HOUR);
  follow(limit(asked + HOUR));
  expect(waits.nextLook(asked, [])).toBe(asked + HOUR);
  expect(waits.over(asked + HOUR)).toEqual([{ limit: 'claude', until: asked + HOUR }]);
  follow({ type: 'usage-limit-lifted', at: asked + HOUR, executor: 'claude' });
  expect(waits.nextLook(asked, [])).toBe(asked + 3 * HOUR);
  follow({ type: 'question-timed-out', at: asked + 3 * HOUR, agent: 'main' });
  expect(waits.nextLook(asked, [])).toBeUndefined();
});

test('a wait that is over and changes nothing is tried again later, not at once', () => {
  const { follow, waits, asked } = asking();
  const end = asked + 3 * HOUR;
  expect(waits.nextLook(end, [])).toBe(end);
  const tried = waits.over(end);
  expect(tried).toEqual([{ agent: 'main', until: end }]);
  expect(waits.nextLook(end, tried)).toBe(end + 10_000);
  // Another end comes first.
  follow(limit(end + 5_000));
  expect(waits.nextLook(end, tried)).toBe(end + 5_000);
  follow({ type: 'run-ended', at: end, outcome: 'interrupted' });
  expect(waits.nextLook(end, tried)).toBeUndefined();
});
