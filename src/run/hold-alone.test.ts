import { expect, test, vi } from 'vitest';
import { answered, failed, makeRun, type Stage } from '../../test/make-run.ts';
import { apply } from '../interpret/apply.ts';
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Clock } from '../ports.ts';
import { holdAlone } from './hold-alone.ts';
import { Inbox } from './inbox.ts';
import { decideTurn } from './turn.ts';

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

/** Turns of a process that has the run for itself. They act on nothing. */
function turnsOf(stage: Stage, now: number) {
  const inbox = new Inbox<Input>();
  const hand = handClock(now);
  const journal = { append: async () => {} };
  const { workflows } = stage;
  const alone = holdAlone(stage.run, inbox, { workflows, journal, clock: hand.clock });
  const steps = { executors: { prompt: 'scripted', script: 'scripted' }, prepare: () => {} };
  const turn = async (...inputs: readonly Input[]): Promise<readonly RunEvent[]> => {
    const { decided } = await decideTurn(
      {
        ...{ hold: alone.hold, newId: () => 's', steps },
        ...{ attended: () => true, patient: true },
      },
      inputs,
    );
    return decided.map(({ event }) => event);
  };
  const wake = vi.spyOn(inbox, 'wake');
  const isAwake = () => wake.mock.calls.length > 0;
  return { ...hand, turn, isAwake, close: alone.close };
}

test.each([
  ['a pause before a retry', failed('crashed'), 'agent-woke'],
  ['a usage limit', failed('usage-limit'), 'usage-limit-lifted'],
  ['a deadline', ask, 'question-timed-out'],
])('%s ends, whether it is new or comes from a resumed run', async (_, report, type) => {
  for (const how of ['decided', 'found']) {
    const stage = makeRun({ START: [] });
    stage.start();
    const outcome = typeof report === 'string' ? answered(stage, stage.agent(), report) : report;
    const at = stage.now;
    const end: Input = { kind: 'step-ended', at, agent: 'main', step: 1, outcome };
    const early = turnsOf(stage, at);
    stage.handle(end);
    const found = how === 'decided' ? early : turnsOf(stage, at);
    await found.turn(...(how === 'decided' ? [end] : []));
    found.forwardTo(at + 1);
    expect(found.isAwake()).toBe(false);
    const late = stage.now + 10 ** 7;
    found.forwardTo(late);
    expect(found.isAwake()).toBe(true);
    expect((await found.turn())[0]).toMatchObject({ type, at: late });
  }
});

const limited = (until: number, executor: string): RunEvent => ({
  ...{ type: 'usage-limited', at: 0, agent: 'main', until, executor },
});

/** A run with usage limits. */
function limitedRun(...limits: readonly RunEvent[]): Stage {
  const stage = makeRun({ START: [] });
  stage.run = limits.reduce(apply, stage.run);
  return stage;
}

test('the first of all waits counts, and no wait outlives the loop', async () => {
  const stage = limitedRun(limited(9, 'codex'), limited(7, 'claude'), limited(8, 'gemini'));
  const { turn, waits, forwardTo, close } = turnsOf(stage, 0);
  const times = () => [...waits].map(({ time }) => time);
  await turn();
  expect(times()).toEqual([7]);
  forwardTo(7);
  await turn();
  expect(times()).toEqual([8]);
  close();
  expect(waits.size).toBe(0);
});

test.each([
  ['in the past', 999, true],
  ['now', 1000, true],
  ['in the future', 1001, false],
])('a wait whose end is %s', async (_, until, isDue) => {
  const { turn, waits } = turnsOf(limitedRun(limited(until, 'codex')), 1000);
  const types = (await turn()).map(({ type }) => type);
  expect(types.includes('usage-limit-lifted')).toBe(isDue);
  expect(waits.size).toBe(isDue ? 0 : 1);
});

test('a timer that comes too early ends the wait, too', async () => {
  const { turn, waits, isAwake } = turnsOf(limitedRun(limited(1001, 'codex')), 1000);
  await turn();
  for (const { callback } of waits) callback();
  expect(isAwake()).toBe(true);
  expect(await turn()).toContainEqual({ type: 'usage-limit-lifted', at: 1001, executor: 'codex' });
});

test('inputs come first, then what is due: a resume after a deadline continues with the timeout', async () => {
  const stage = makeRun({ START: [] });
  stage.turn(ask);
  stage.idle({ patient: false });
  const hour = 3_600_000;
  const { turn } = turnsOf(stage, stage.now + hour);
  const { settings } = stage.run;
  const events = await turn({ kind: 'resume', at: stage.now + hour, settings, input: undefined });
  const types = events.map(({ type }) => type);
  expect(types).toEqual(['run-resumed', 'question-timed-out', 'step-started']);
});
