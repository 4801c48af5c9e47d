import { expect, test } from 'vitest';
import { failed, makeRun } from '../../test/make-run.ts';
import type { Input } from '../model/input.ts';
import type { Clock } from '../ports.ts';
import { Inbox } from './inbox.ts';
import { Timers } from './timers.ts';

/** A clock that the test moves forward. */
function handClock(start: number) {
  let now = start;
  const waits = new Set<{ readonly time: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    at: (time, callback) => {
      const wait = { time, callback };
      waits.add(wait);
      return () => waits.delete(wait);
    },
  };
  const forwardTo = (time: number) => {
    now = time;
    for (const wait of waits) {
      if (wait.time > now) continue;
      waits.delete(wait);
      wait.callback();
    }
  };
  return { clock, waits, forwardTo };
}

const ask = '<ask next="START" timeout="1h" timeout_next="START">?</ask>';

test.each([
  ['a pause before a retry', failed('crashed'), 'time-came'],
  ['a usage limit', failed('usage-limit'), 'usage-limit-over'],
  ['a deadline', ask, 'time-came'],
])('%s ends, whether it is new or comes from a resumed run', (_, report, kind) => {
  const stage = makeRun({ START: [] });
  const decided = stage.turn(report);
  for (const how of ['decided', 'found']) {
    const inbox = new Inbox<Input>();
    const { clock, forwardTo } = handClock(decided[0]?.at ?? 0);
    const timers = new Timers(clock, inbox);
    if (how === 'decided') decided.forEach((event) => void timers.set(event));
    else timers.setAll(stage.run);
    forwardTo((decided[0]?.at ?? 0) + 1);
    expect(inbox.takeNow()).toEqual([]);
    forwardTo(stage.now + 10 ** 7);
    expect(inbox.takeNow()).toMatchObject([{ kind, at: stage.now + 10 ** 7 }]);
  }
});

test('a new wait replaces the earlier one, and no wait outlives the loop', () => {
  const { clock, waits } = handClock(0);
  const timers = new Timers(clock, new Inbox());
  timers.set({ type: 'agent-waits', at: 0, agent: 'main', until: 5 });
  timers.set({ type: 'agent-waits', at: 0, agent: 'main', until: 9 });
  timers.set({ type: 'usage-limited', at: 0, agent: 'main', until: 7, executor: 'codex' });
  timers.set({ type: 'usage-limited', at: 0, agent: 'main', until: 8, executor: 'claude' });
  expect([...waits].map(({ time }) => time)).toEqual([9, 7, 8]);
  timers.cancelAll();
  expect(waits.size).toBe(0);
});

test.each([
  ['in the past', 999, true],
  ['now', 1000, true],
  ['in the future', 1001, false],
])('a wait whose end is %s', (_, until, isDue) => {
  const inbox = new Inbox<Input>();
  const { clock, waits } = handClock(1000);
  new Timers(clock, inbox).set({ type: 'agent-waits', at: 1, agent: 'main', until });
  expect(inbox.takeNow()).toEqual(isDue ? [{ kind: 'time-came', at: 1000, agent: 'main' }] : []);
  expect(waits.size).toBe(isDue ? 0 : 1);
});
