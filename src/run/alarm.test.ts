import { expect, test } from 'vitest';
import { failed, makeRun } from '../../test/make-run.ts';
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Clock } from '../ports.ts';
import { Alarm } from './alarm.ts';
import { Decider } from './decider.ts';
import { Inbox } from './inbox.ts';

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

function alarmOf(stage: ReturnType<typeof makeRun>, now: number) {
  const inbox = new Inbox<Input>();
  const hand = handClock(now);
  const decider = new Decider(stage.workflows, stage.run);
  return { ...hand, inbox, decider, alarm: new Alarm(hand.clock, inbox, decider.waits) };
}

test.each([
  ['a pause before a retry', failed('crashed'), 'time-came'],
  ['a usage limit', failed('usage-limit'), 'usage-limit-over'],
  ['a deadline', ask, 'time-came'],
])('%s ends, whether it is new or comes from a resumed run', (_, report, kind) => {
  for (const how of ['decided', 'found']) {
    const stage = makeRun({ START: [] });
    stage.start();
    const early = alarmOf(stage, stage.now);
    const decided = stage.end(report);
    const now = decided[0]?.at ?? 0;
    const found = how === 'decided' ? early : alarmOf(stage, now);
    const { inbox, decider, alarm, forwardTo } = found;
    alarm.ring();
    if (how === 'decided') for (const event of decided) decider.follow(event);
    alarm.set();
    forwardTo(now + 1);
    expect(inbox.takeNow()).toEqual([]);
    forwardTo(stage.now + 10 ** 7);
    expect(inbox.takeNow()).toMatchObject([{ kind, at: stage.now + 10 ** 7 }]);
  }
});

test('the first of all waits counts, and no wait outlives the loop', () => {
  const { decider, alarm, waits } = alarmOf(makeRun({ START: [] }), 0);
  const times = (event: RunEvent) => {
    decider.follow(event);
    alarm.set();
    return [...waits].map(({ time }) => time);
  };
  const limited = { type: 'usage-limited', at: 0, agent: 'main' } as const;
  expect(times({ ...limited, until: 5, executor: 'codex' })).toEqual([5]);
  expect(times({ ...limited, until: 9, executor: 'codex' })).toEqual([9]);
  expect(times({ ...limited, until: 7, executor: 'claude' })).toEqual([7]);
  expect(times({ ...limited, until: 8, executor: 'gemini' })).toEqual([7]);
  alarm.cancel();
  expect(waits.size).toBe(0);
});

test.each([
  ['in the past', 999, true],
  ['now', 1000, true],
  ['in the future', 1001, false],
])('a wait whose end is %s', (_, until, isDue) => {
  const { inbox, decider, alarm, waits } = alarmOf(makeRun({ START: [] }), 1000);
  decider.follow({ type: 'usage-limited', at: 1, agent: 'main', executor: 'codex', until });
  alarm.set();
  expect(inbox.takeNow()).toEqual(isDue ? [{ kind: 'usage-limit-over', at: 1000 }] : []);
  expect(waits.size).toBe(isDue ? 0 : 1);
});

test('a timer that comes too early ends the wait, too', () => {
  const { inbox, decider, alarm, waits } = alarmOf(makeRun({ START: [] }), 1000);
  decider.follow({ type: 'usage-limited', at: 1, agent: 'main', executor: 'codex', until: 1001 });
  alarm.set();
  for (const { callback } of waits) callback();
  expect(inbox.takeNow()).toEqual([{ kind: 'usage-limit-over', at: 1001 }]);
});
