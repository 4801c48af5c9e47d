import { expect, test } from 'vitest';
import type { Rights } from '../model/rights.ts';
import { combined } from './rights.ts';

test('without a level, a step is not confined', () => {
  expect(combined([])).toBeUndefined();
});

test('an empty level confines to the directory of the agent, without a network', () => {
  expect(combined([{}])).toEqual({ write: [], hide: [], network: [] });
});

test('all levels limit what may be written, and add to what is hidden', () => {
  const levels: Rights[] = [
    { write: ['.'], hide: ['a'] },
    { write: ['src'], hide: ['b', 'a'] },
  ];
  expect(combined(levels)).toMatchObject({ write: [['.'], ['src']], hide: ['a', 'b'] });
});

test.each<[wide: Rights['network'], narrow: Rights['network'], both: unknown]>([
  ['all', 'none', []],
  ['all', ['a.org'], ['a.org']],
  ['none', 'all', []],
  [['a.org'], 'all', ['a.org']],
  [undefined, ['a.org'], ['a.org']],
  [['a.org'], undefined, ['a.org']],
  [['a.org', 'b.org'], ['b.org', 'c.org'], ['b.org']],
  [['*.a.org'], ['x.a.org', 'a.org'], ['x.a.org']],
  [['x.a.org'], ['*.a.org'], ['x.a.org']],
  [['*.a.org'], ['*.x.a.org'], ['*.x.a.org']],
  [['*.a.org:443'], ['x.a.org'], ['x.a.org:443']],
  [['a.org:443'], ['a.org:80'], []],
  [['A.org'], ['a.ORG:443'], ['a.org:443']],
  [['xa.org'], ['*.a.org'], []],
])('%j narrowed by %j is %j', (wide, narrow, both) => {
  const level = (network: Rights['network']): Rights => (network === undefined ? {} : { network });
  expect(combined([level(wide), level(narrow)])?.network).toEqual(both);
});
