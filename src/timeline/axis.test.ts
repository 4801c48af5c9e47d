import { expect, test } from 'vitest';
import type { Span } from '../history/span.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { axisOf } from './axis.ts';

const state = stateNameSchema.parse('START.md');
const span = (from: number, to: number, kind: Span['kind'] = 'work'): Span => ({
  ...{ agent: 'main', kind, workflow: '/flow', state, from, to, costUsd: 0 },
});

test('without long rests, places are in proportion to time', () => {
  const { place, timeAt, cuts } = axisOf(1_000, [span(1_000, 5_000), span(5_100, 11_000)]);
  expect(cuts).toEqual([]);
  expect([1_000, 6_000, 11_000].map(place)).toEqual([0, 0.5, 1]);
  expect([0, 0.5, 1].map(timeAt)).toEqual([1_000, 6_000, 11_000]);
});

test('a night without work is cut, and takes little room', () => {
  const night = 8 * 3_600_000;
  const { place, cuts } = axisOf(0, [
    span(0, 10_000),
    span(10_000, 10_000 + night, 'ask'),
    span(10_000 + night, 20_000 + night),
  ]);
  expect(cuts).toEqual([{ from: 10_000, to: 10_000 + night }]);
  expect(place(10_000)).toBeGreaterThan(0.45);
  expect(place(10_000 + night)).toBeLessThan(0.55);
  expect(place(20_000 + night)).toBe(1);
});

test('many cuts leave most of the room to the work', () => {
  const hour = 3_600_000;
  const spans = Array.from({ length: 100 }, (_, n) => span(n * hour, n * hour + 1_000));
  const { place, cuts } = axisOf(0, spans);
  expect(cuts).toHaveLength(99);
  const worked = spans.reduce((sum, { from, to }) => sum + place(to) - place(from), 0);
  expect(worked).toBeGreaterThan(0.65);
});

test('a rest while another agent works is not cut', () => {
  expect(axisOf(0, [span(0, 1_000), span(0, 90_000), span(89_000, 91_000)]).cuts).toEqual([]);
});

test.each([
  ['a run without spans', []],
  ['a run that never worked', [span(0, 100_000, 'ask')]],
  ['a step without a duration', [span(5, 5)]],
])('%s has places between 0 and 1', (_, spans) => {
  const { place } = axisOf(0, spans);
  for (const time of [-5, 0, 5, 50_000, 1e15]) {
    expect(place(time)).toBeGreaterThanOrEqual(0);
    expect(place(time)).toBeLessThanOrEqual(1);
  }
});
