import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameIndex, nearest, nearestFew } from './nearest.ts';

const KEYS = ['allowed_transitions', 'model', 'effort', 'timeout', 'max_visits'];

test.each<[string, readonly string[], string | undefined]>([
  ['modle', KEYS, 'model'],
  ['Model', KEYS, 'model'],
  ['alowed_transition', KEYS, 'allowed_transitions'],
  ['timout', KEYS, 'timeout'],
  ['banana', KEYS, undefined],
  ['', KEYS, undefined],
  ['x', ['y', 'a'], undefined],
  ['REVEIW', ['REVIEW', 'START'], 'REVIEW'],
  ['model', KEYS, 'model'],
  ['model', [], undefined],
])('%j means %j', (name, candidates, meant) => {
  expect(nearest(name, candidates)).toBe(meant);
});

test('the closest names come first', () => {
  expect(nearestFew('START', ['STARTS', 'STRAT', 'START', 'END', 'SMART2'])).toEqual([
    'START',
    'STARTS',
    'STRAT',
  ]);
});

test('a name with one extra letter is found', () => {
  const names = fc.string({ minLength: 3, maxLength: 30 });
  fc.assert(
    fc.property(names, fc.nat(), (name, place) => {
      const at = place % name.length;
      const typed = `${name.slice(0, at)}q${name.slice(at)}`;
      expect(nearest(typed, [name])).toBe(name);
    }),
  );
});

test('a search compares a limited number of names', () => {
  const others = (count: number) => Array.from({ length: count }, (_, i) => `other${i + 1000}`);
  expect(nameIndex([...others(190), 'STATES_00']).nearest('STATES_01')).toEqual(['STATES_00']);
  expect(nameIndex([...others(200), 'STATES_00']).nearest('STATES_01')).toEqual([]);
});

test('a very long name is not searched for', () => {
  expect(nearest('a'.repeat(1_000), ['a'.repeat(999)])).toBeUndefined();
});
