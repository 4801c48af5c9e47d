import { expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import { countdown } from './countdown.ts';

const MINUTE = 60_000;
const always = (): boolean => true;

/** A clock on which nothing happens until it is moved. */
function handClock() {
  let now = 0;
  let pending: { time: number; callback: () => void } | undefined;
  return {
    now: () => now,
    at: (time: number, callback: () => void) => {
      pending = { time, callback };
      return () => {
        pending = undefined;
      };
    },
    /** Goes on to the next callback; false when there is none. */
    step(): boolean {
      if (!pending) return false;
      const { time, callback } = pending;
      pending = undefined;
      now = time;
      callback();
      return true;
    },
  };
}

test('counts down a usage limit: rarely at first, every minute at the end, and then no more', () => {
  const clock = handClock();
  const said: string[] = [];
  const observer = countdown(
    clock,
    (line) => said.push(line.text.replace(/, until.*/, '')),
    always,
  );
  const limited: RunEvent = { type: 'usage-limited', at: 0, agent: 'main', until: 47 * MINUTE };
  observer.event(limited, newRun, { ...newRun, limitedUntil: 47 * MINUTE });
  let steps = 0;
  while (clock.step() && steps < 100) steps++;
  expect(said.slice(0, 4)).toEqual([
    'usage limit: 32 min 0 s left',
    'usage limit: 17 min 0 s left',
    'usage limit: 16 min 0 s left',
    'usage limit: 15 min 0 s left',
  ]);
  expect(said.at(-1)).toBe('usage limit: 1 min 0 s left');
});

test('says nothing more when the limit is lifted', () => {
  const clock = handClock();
  const said: string[] = [];
  const observer = countdown(clock, (line) => said.push(line.text), always);
  const limited: RunEvent = { type: 'usage-limited', at: 0, agent: 'main', until: MINUTE };
  observer.event(limited, newRun, { ...newRun, limitedUntil: MINUTE });
  observer.event({ type: 'usage-limit-lifted', at: 1 }, newRun, newRun);
  expect(clock.step()).toBe(false);
  expect(said).toEqual([]);
});

const DEADLINE = '<ask next="N" timeout="2m" timeout_next="N">?</ask>';

/** Shows the events of a run to a countdown; gives what it says. */
function counted(waitsForDeadlines: () => boolean, settings = {}) {
  const stage = makeRun({ START: [], N: [] }, { settings: { budgetUsd: 0, ...settings } });
  const clock = handClock();
  const said: string[] = [];
  const observer = countdown(
    { now: () => stage.now, at: clock.at },
    ({ who, text }) => said.push(`${who} ${text.replace(/, until.*/, '')}`),
    waitsForDeadlines,
  );
  const turn = (text: string, agent?: string) => {
    for (const event of stage.turn(text, agent)) observer.event(event, stage.run, stage.run);
  };
  return { stage, clock, said, observer, turn };
}

test('says which answer is waited for, once, when nothing else can go on', () => {
  const { turn, said, clock } = counted(always);
  turn('<fork next="N">N</fork>');
  turn(DEADLINE, 'main_n1');
  expect(said).toEqual([]);
  turn('<goto>N</goto>');
  expect(said).toEqual([]);
  turn(DEADLINE);
  expect(said).toEqual(['main_n1 waits for an answer: 1 min 55 s left']);
  expect(clock.step()).toBe(true);
  expect(said).toHaveLength(2);
});

test.each([
  ['somebody is shown the question', {}, (): boolean => false],
  ['the run does not wait', { wait: false }, always],
])('says nothing of a deadline when %s', (_, settings, waits) => {
  const { turn, said } = counted(waits, settings);
  turn(DEADLINE);
  expect(said).toEqual([]);
});

test('says it when the person who was shown the question has left', () => {
  let isThere = true;
  const { turn, said, observer } = counted(() => !isThere);
  turn(DEADLINE);
  isThere = false;
  observer.look();
  observer.look();
  expect(said).toEqual(['main waits for an answer: 1 min 59 s left']);
});
