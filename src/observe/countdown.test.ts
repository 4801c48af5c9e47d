import { expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import { countdown } from './countdown.ts';

const MINUTE = 60_000;
const always = (): boolean => true;

/** A clock that the test moves. */
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
    /** Moves to the next callback; false when there is none. */
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

test('counts down a usage limit: rarely at first, and every minute at the end', () => {
  const clock = handClock();
  const lines: string[] = [];
  const observer = countdown(
    clock,
    (line) => lines.push(line.text.replace(/, until.*/, '')),
    always,
  );
  const limited: RunEvent = { type: 'usage-limited', at: 0, agent: 'main', until: 47 * MINUTE };
  observer.event(limited, newRun, { ...newRun, limits: { '': 47 * MINUTE } });
  let steps = 0;
  while (clock.step() && steps < 100) steps++;
  expect(lines.slice(0, 4)).toEqual([
    'usage limit: 32 min 0 s left',
    'usage limit: 17 min 0 s left',
    'usage limit: 16 min 0 s left',
    'usage limit: 15 min 0 s left',
  ]);
  expect(lines.at(-1)).toBe('usage limit: 1 min 0 s left');
});

test('stops when the limit is lifted', () => {
  const clock = handClock();
  const lines: string[] = [];
  const observer = countdown(clock, (line) => lines.push(line.text), always);
  const limited: RunEvent = { type: 'usage-limited', at: 0, agent: 'main', until: MINUTE };
  observer.event(limited, newRun, { ...newRun, limits: { '': MINUTE } });
  observer.event({ type: 'usage-limit-lifted', at: 1 }, newRun, newRun);
  expect(clock.step()).toBe(false);
  expect(lines).toEqual([]);
});

const DEADLINE = '<ask next="N" timeout="2m" timeout_next="N">?</ask>';

/** Shows the events of a run to a countdown; returns its lines. */
function counted(waitsForDeadlines: () => boolean, settings = {}) {
  const stage = makeRun({ START: [], N: [] }, { settings: { budgetUsd: 0, ...settings } });
  const clock = handClock();
  const lines: string[] = [];
  const observer = countdown(
    { now: () => stage.now, at: clock.at },
    ({ who, text }) => lines.push(`${who} ${text.replace(/, until.*/, '')}`),
    waitsForDeadlines,
  );
  const turn = (text: string, agent?: string) => {
    for (const event of stage.turn(text, agent)) observer.event(event, stage.run, stage.run);
  };
  return { stage, clock, lines, observer, turn };
}

test('names the awaited answer, once, when no other agent can continue', () => {
  const { turn, lines, clock } = counted(always);
  turn('<fork next="N">N</fork>');
  turn(DEADLINE, 'main_n1');
  expect(lines).toEqual([]);
  turn('<goto>N</goto>');
  expect(lines).toEqual([]);
  turn(DEADLINE);
  expect(lines).toEqual(['main_n1 waits for an answer: 1 min 55 s left']);
  expect(clock.step()).toBe(true);
  expect(lines).toHaveLength(2);
});

test.each([
  ['a user sees the question', {}, (): boolean => false],
  ['the run does not wait', { wait: false }, always],
])('does not mention a deadline when %s', (_, settings, waits) => {
  const { turn, lines } = counted(waits, settings);
  turn(DEADLINE);
  expect(lines).toEqual([]);
});

test('mentions the deadline when the user who saw the question has left', () => {
  let isPresent = true;
  const { turn, lines, observer } = counted(() => !isPresent);
  turn(DEADLINE);
  isPresent = false;
  observer.look();
  observer.look();
  expect(lines).toEqual(['main waits for an answer: 1 min 59 s left']);
});
