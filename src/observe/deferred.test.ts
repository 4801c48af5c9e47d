import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import { deferred } from './deferred.ts';

const stop: RunEvent = { type: 'stop-requested', at: 1, how: 'now', why: 'person' };
const end: RunEvent = { type: 'run-ended', at: 2, outcome: 'interrupted' };

function recording() {
  const seen: string[] = [];
  const observer = deferred({
    event: ({ type }) => void seen.push(type),
    live: ({ agent }) => void seen.push(agent),
  });
  return { seen, observer };
}

test('passes everything on in order, after the present turn', async () => {
  const { seen, observer } = recording();
  observer.event(stop, newRun, newRun);
  observer.live({ agent: 'main', step: 1 }, { kind: 'print', text: 'x' });
  expect(seen).toEqual([]);
  await nextTurn();
  await nextTurn();
  expect(seen).toEqual(['stop-requested', 'main']);
});

test('passes the end of a run on immediately, together with all earlier events', () => {
  const { seen, observer } = recording();
  observer.event(stop, newRun, newRun);
  observer.event(end, newRun, newRun);
  expect(seen).toEqual(['stop-requested', 'run-ended']);
});
