import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PersistentMap } from './persistent-map.ts';

type Change = readonly ['set', string, number] | readonly ['delete', string];

// Two pairs of keys with the same FNV-1a hash, which share leaves.
const key = fc.oneof(
  fc.constantFrom('costarring', 'liquid', 'declinate', 'macallums', '', '__proto__', 'a', 'b'),
  fc.string({ maxLength: 3 }),
);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.constant('set' as const), key, fc.nat(9)),
  fc.tuple(fc.constant('delete' as const), key),
);

test('behaves like a Map, and never changes an earlier version', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      let map = PersistentMap.empty<number>();
      const model = new Map<string, number>();
      const versions: [PersistentMap<number>, Map<string, number>][] = [];
      for (const [what, name, value] of changes) {
        versions.push([map, new Map(model)]);
        map = what === 'set' ? map.set(name, value) : map.delete(name);
        if (what === 'set') model.set(name, value);
        else model.delete(name);
      }
      for (const [version, expected] of [...versions, [map, model] as const]) {
        expect(new Map(version)).toEqual(expected);
        expect(version.size).toBe(expected.size);
        for (const [name, value] of expected) expect(version.get(name)).toBe(value);
      }
    }),
  );
});

test.each(['costarring', 'declinate'])(
  'keys with the same hash have separate values: %s',
  (one) => {
    const other = one === 'costarring' ? 'liquid' : 'macallums';
    const map = PersistentMap.from([
      [one, 1],
      [other, 2],
    ]);
    expect([map.get(one), map.get(other), map.size]).toEqual([1, 2, 2]);
    expect([...map.delete(one)]).toEqual([[other, 2]]);
  },
);

test('deleting a missing key returns the same map', () => {
  const map = PersistentMap.from([['a', 1]]);
  expect(map.delete('b')).toBe(map);
});

test('toEqual compares the contents of maps', () => {
  expect(PersistentMap.from([['a', 1]])).toEqual(PersistentMap.from([['a', 1]]));
  expect(PersistentMap.from([['a', 1]])).not.toEqual(PersistentMap.from([['a', 2]]));
  expect(PersistentMap.from([['a', 1]])).not.toEqual(PersistentMap.empty());
});
