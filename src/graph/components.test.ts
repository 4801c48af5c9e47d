import fc from 'fast-check';
import { expect, test } from 'vitest';
import { componentsOf } from './components.ts';

const graphs = fc
  .array(fc.array(fc.nat(7), { maxLength: 4 }), { minLength: 8, maxLength: 8 })
  .map((links) => (node: number) => links[node] ?? []);

function reachable(from: number, successors: (node: number) => readonly number[]): Set<number> {
  const seen = new Set([from]);
  for (const node of seen) for (const next of successors(node)) seen.add(next);
  return seen;
}

test('two nodes share a component when each reaches the other', () => {
  fc.assert(
    fc.property(graphs, (successors) => {
      const nodes = [0, 1, 2, 3, 4, 5, 6, 7];
      const components = componentsOf(nodes, successors);
      const indexOf = (node: number) => components.findIndex((members) => members.includes(node));
      expect(components.flat().sort()).toEqual(nodes);
      for (const a of nodes) {
        for (const b of reachable(a, successors)) {
          const isMutual = reachable(b, successors).has(a);
          expect(indexOf(a) === indexOf(b)).toBe(isMutual);
          // A component comes after the components that it leads to.
          if (!isMutual) expect(indexOf(b)).toBeLessThan(indexOf(a));
        }
      }
    }),
  );
});

test('a long chain does not exhaust the stack', () => {
  const components = componentsOf([0], (node) => (node < 50_000 ? [node + 1] : []));
  expect(components).toHaveLength(50_001);
});
