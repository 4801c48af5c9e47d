import { expect, test } from 'vitest';
import type { ChangedFolder } from '../../src/look/diff-shape.ts';
import { bothStates, changedIn, changesOf, pathOf } from './compare.ts';

test('states of both runs, with the figures of each', () => {
  const of = (state: string, visits: number) => {
    const use = { workflow: 'w', state, visits, steps: visits, failures: 0 };
    return { ...use, worked_ms: 10 * visits, cost_usd: 0 };
  };
  const states = bothStates([
    { states: [of('A', 1), of('B', 2)] },
    { states: [of('B', 1), of('C', 1)] },
  ]);
  expect(states.map(({ state, visits }) => [state, ...visits])).toEqual([
    ['A', 1, 0],
    ['B', 2, 1],
    ['C', 0, 1],
  ]);
});

test('a path leaves out checks and what a rewind took back', () => {
  const row = (state: string, more: object = {}) =>
    ({ state, task: 'state', status: 'ended', abandoned: false, ...more }) as Parameters<
      typeof pathOf
    >[0][number];
  const steps = [row('A'), row('A', { task: 'check' }), row('B', { abandoned: true })];
  expect(pathOf([...steps, row('C', { status: 'failed' })])).toBe('A\nC (failed)');
});

test('changed files are in one run, the same in both, or different', () => {
  const diff = (patches: Readonly<Record<string, string>>) => {
    const files = Object.entries(patches).map(([path, patch]) => ({ path, patch }));
    return { folders: [{ files } as unknown as ChangedFolder] };
  };
  expect(changedIn([diff({ a: '1', b: '1', c: '1' }), diff({ b: '1', c: '2', d: '1' })])).toEqual([
    { path: 'a', where: 'first' },
    { path: 'b', where: 'same' },
    { path: 'c', where: 'differs' },
    { path: 'd', where: 'second' },
  ]);
});

test.each([
  [{ changes: {}, number: 1 }, 'repetition 1'],
  [{ changes: { with: 'v/A.md', model: 'opus' }, number: 1 }, 'with v/A.md, model opus'],
  [{ changes: { model: 'opus' }, number: 2 }, 'model opus, repetition 2'],
])('the changes of a variant: %j', (variant, text) => {
  expect(changesOf(variant)).toBe(text);
});
