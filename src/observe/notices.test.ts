import { expect, test } from 'vitest';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import { play } from '../testing.ts';
import { type Notice, noticeObserver } from './notices.ts';

function noticesOf(events: readonly RunEvent[]): readonly Notice[] {
  const given: Notice[] = [];
  const observer = noticeObserver((notice) => given.push(notice));
  let run = newRun;
  for (const event of events) {
    const before = run;
    run = apply(before, event);
    observer.event(event, before, run);
  }
  return given;
}

test('questions, denials, failures and the end give a notice, and nothing else does', async () => {
  const { events } = await play({
    START: [{ text: '<fork next="ASK">WORKER</fork>', denied: ['Bash rm -rf /', 'Write x'] }],
    WORKER: ['no tag'],
    ASK: ['<ask next="ASK">Which\n\x1b[31mcolour?</ask>'],
  });
  const texts = noticesOf(events).map(({ kind, text }) => `${kind}: ${text}`);
  expect(texts.slice(0, -1).sort()).toEqual([
    'denial: main of play-00000000 was denied: Bash rm -rf /, Write x',
    'failure: main_worker1 of play-00000000 failed: There is no transition tag. The agent\'s last words: "no tag". Say in WORKER.md with which tag the step ends, or list its allowed_transitions, so that Raymond ca...',
    'question: main of play-00000000 asks: Which \\x1b[31mcolour?',
  ]);
  expect(texts.at(-1)).toBe('end: play-00000000 waits for you ($0.00)');
});

test('a usage limit gives one notice, however many agents meet it', () => {
  const limited = (agent: string): RunEvent => ({
    type: 'usage-limited',
    at: 1_000,
    agent,
    until: 61_000,
  });
  const observed: Notice[] = [];
  const observer = noticeObserver((notice) => observed.push(notice));
  const run = { ...newRun, id: 'r' };
  const after = { ...run, limits: { '': 61_000 } };
  observer.event(limited('main'), run, after);
  observer.event(limited('main_worker1'), after, after);
  expect(observed).toMatchObject([{ kind: 'limit' }]);
  expect(observed[0]?.text).toMatch(/^r waits for the usage limit until \d\d:\d\d:\d\d$/);
});
