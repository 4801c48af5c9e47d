import { expect, test } from 'vitest';
import { failed, makeRun, type Stage } from '../../test/make-run.ts';
import type { Settings } from './event.ts';
import { waitOf, waitsIn } from './wait.ts';

function three(settings: Partial<Settings>, state = 'W'): Stage {
  const stage = makeRun({ 'START.sh': [], W: [], 'S.sh': [], END: [] }, { settings });
  stage.turn(`<fork>${state}</fork><fork>${state}</fork><goto>${state}</goto>`);
  for (const [id] of stage.run.agents) stage.start(id);
  return stage;
}

const waits = (stage: Stage) =>
  [...stage.run.agents].flatMap(([, agent]) => waitOf(stage.run, agent, stage.now) ?? []);

const counts = ({ run, now }: Stage): Readonly<Record<string, number>> =>
  Object.fromEntries(waitsIn(run, now).map(({ wait, count }) => [wait.for, count]));

test.each([
  ['nothing holds the agents back', {}, 'W', []],
  [
    'all places for prompts are taken',
    { maxParallelPrompts: 2 },
    'W',
    [{ for: 'place', places: 2 }],
  ],
  [
    'all places for scripts are taken',
    { maxParallelScripts: 2 },
    'S',
    [{ for: 'place', places: 2 }],
  ],
  ['the rest of the budget is reserved', { budgetUsd: 0.1 }, 'W', [{ for: 'money' }]],
])('%s', (_, settings, state, expected) => expect(waits(three(settings, state))).toEqual(expected));

test('a usage limit, a retry, a question and a permission', () => {
  const stage = three({ budgetUsd: 0 });
  const [, second = '', third = ''] = [...stage.run.agents].map(([id]) => id).toSorted();
  stage.end('<ask next="END">Well?</ask>', 'main');
  stage.end(failed('overloaded'), second);
  const request = { request: 'r', tool: 'Bash', summary: 'ls', input: '{}' };
  stage.handle({ kind: 'permission-requested', at: stage.now, agent: third, step: 1, request });
  expect(counts(stage)).toEqual({ person: 2, retry: 1 });
});

test('a join waits for its children, and a limited prompt for the limit', () => {
  const stage = makeRun({ 'START.sh': [], W: [], END: [] });
  stage.turn('<fork>W</fork><fork>W</fork><join>END</join>');
  const resetsAt = stage.now + 100_000;
  const [, first = ''] = [...stage.run.agents].map(([id]) => id).toSorted();
  stage.turn(failed('usage-limit', 0, { resetsAt }), first);
  expect(waits(stage)).toContainEqual({ for: 'children', open: 2, all: 2 });
  expect(counts(stage).limit).toBe(2);
});

test('in a run that stops, agents between two steps wait for nothing', () => {
  const stage = three({ maxParallelPrompts: 1 });
  stage.stop('drain');
  expect(waits(stage)).toEqual([]);
});
