import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOME, hashOf, type Route, routeOf, TABS } from './route.ts';

const route = fc.record({
  kind: fc.constant('run' as const),
  run: fc.string({ minLength: 1, unit: 'grapheme' }),
  tab: fc.constantFrom(...TABS),
  chosen: fc.oneof(
    fc.constant({ kind: 'nothing' as const }),
    fc.record({
      kind: fc.constant('agent' as const),
      agent: fc.string({ minLength: 1, unit: 'grapheme' }),
      step: fc.option(fc.integer({ min: 1, max: 999_999 }), { nil: undefined }),
    }),
    fc.record({
      kind: fc.constant('state' as const),
      state: fc.string({ minLength: 1, unit: 'grapheme' }),
      workflow: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    }),
  ),
});

const workflows = fc.record({
  kind: fc.constant('workflows' as const),
  chosen: fc.option(fc.string({ minLength: 1, unit: 'grapheme' }), { nil: undefined }),
});

test('the link of every place leads to it', () => {
  fc.assert(
    fc.property(fc.oneof(route, workflows), (place: Route) => {
      expect(routeOf(hashOf(place))).toEqual(place);
    }),
  );
});

test.each(['', '#', '#/', '#/other', '#/runs/', '#token=abc'])('%j is the list of runs', (hash) => {
  expect(routeOf(hash)).toEqual(HOME);
});

test.each<[string, Partial<Extract<Route, { kind: 'run' }>>]>([
  ['#/runs/a', { run: 'a', tab: 'graph' }],
  ['#/runs/a/nonsense', { tab: 'graph' }],
  ['#/runs/%zz/agents', { run: '%zz', tab: 'agents' }],
  ['#/runs/a/log?agent=main&step=x', { chosen: { kind: 'agent', agent: 'main', step: undefined } }],
])('%s is a place of a run', (hash, expected) => {
  expect(routeOf(hash)).toMatchObject(expected);
});
