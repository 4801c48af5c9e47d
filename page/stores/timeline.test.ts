import { expect, test } from 'vitest';
import type { AgentShape } from '../../src/look/run-shape.ts';
import { axisWithCuts } from '../../src/timeline/axis.ts';
import { movedBy, movedTo, orderedRows, WHOLE, zoomedAxis, zoomedBy } from './timeline.ts';

test('a zoom keeps a place, stays inside, and goes back to the whole', () => {
  expect(zoomedBy(WHOLE, 2)).toEqual({ from: 0.25, to: 0.75 });
  expect(zoomedBy(WHOLE, 2, 1)).toEqual({ from: 0.5, to: 1 });
  expect(zoomedBy({ from: 0.25, to: 0.75 }, 0.5)).toBe(WHOLE);
  expect(movedBy({ from: 0.25, to: 0.75 }, 9)).toEqual({ from: 0.5, to: 1 });
  expect(movedTo({ from: 0.25, to: 0.75 }, 0)).toEqual({ from: 0, to: 0.5 });
});

test('the axis of a part shows its times', () => {
  const axis = zoomedAxis(axisWithCuts(0, 1_000, []), { from: 0.5, to: 1 });
  expect([axis.timeAt(0), axis.timeAt(1), axis.place(750)]).toEqual([500, 1_000, 0.5]);
});

test('failed agents come first, or agents are together by their state', () => {
  const agent = (id: string, state: string, kind: string, variables = {}) =>
    ({ id, state, variables, status: { kind, requests: [] } }) as unknown as AgentShape;
  const agents = [
    agent('main', 'B.md', 'ended'),
    agent('main_1', 'A.md', 'failed', { issue: '#7' }),
    agent('main_2', 'B.md', 'running'),
  ];
  const rows = agents.map(({ id }) => ({ agent: id, bars: [] }));
  const timeline = { from: '', to: '', cuts: [], rows, shortest_ms: 0 };
  const order = (by: 'creation' | 'failed' | 'state') =>
    orderedRows({ agents, timeline }, by).map(({ label }) => label);
  expect(order('creation')).toEqual(['main', '#7 · main_1', 'main_2']);
  expect(order('failed')).toEqual(['#7 · main_1', 'main_2', 'main']);
  expect(order('state')).toEqual(['A.md · #7', 'B.md · 2', 'B.md · main']);
});
