import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EdgeRole, Graph } from '../graph/graph.ts';
import { layoutOf, tooLargeToDraw } from './layout.ts';
import type { Words } from './layout-parts.ts';

const WORDS: Words = { detail: ({ detail }) => detail, label: ([edge]) => edge?.label ?? '' };

/** The ends are indexes of nodes. */
type Edge = readonly [from: number, to: number, role?: EdgeRole, label?: string];

function graphOf(nodes: readonly string[], edges: readonly Edge[]): Graph {
  return {
    name: 'graph',
    entry: nodes[0] ?? '',
    nodes: nodes.map((id) => ({ id, label: id, detail: 'unknown', kind: 'unknown' })),
    edges: edges.map(([from, to, role = 'go', label = 'goto']) => ({
      from: nodes[from] ?? '',
      to: nodes[to] ?? '',
      role,
      label,
      certainty: 'certain',
      origin: 'run',
      at: { line: 1, column: 1 },
    })),
  };
}

function expectPlaced(graph: Graph): void {
  const { width, height, nodes, edges } = layoutOf(graph, WORDS);
  expect(nodes.map(({ node }) => node.id)).toEqual(graph.nodes.map(({ id }) => id));
  expect(new Set(edges.flatMap(({ edges: own }) => own)).size).toBe(graph.edges.length);
  const points = [...nodes, ...edges.flatMap((edge) => [...edge.points, edge.labelAt])];
  expect(points.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
  expect(nodes.every(({ x, y }) => x < width && y < height && x > 0 && y > 0)).toBe(true);
}

const ROLES: readonly EdgeRole[] = ['go', 'call', 'return', 'worker', 'next', 'result', 'judge'];
const HOSTILE = [
  '__proto__',
  'constructor',
  'toString',
  '',
  '\x01',
  '\0',
  'n1',
  'e1',
  '_root',
  '_d0',
];

test('every graph is placed: circles, loops, parallel edges, names that have a meaning in JavaScript', () => {
  const nodes = fc.uniqueArray(fc.oneof(fc.constantFrom(...HOSTILE), fc.string()), {
    minLength: 1,
    maxLength: 12,
  });
  const graphs = nodes.chain((names) => {
    const end = fc.nat(names.length - 1);
    const edge = fc.tuple(end, end, fc.constantFrom(...ROLES), fc.string());
    return fc.array(edge, { maxLength: 60 }).map((edges) => graphOf(names, edges));
  });
  fc.assert(fc.property(graphs, expectPlaced), { numRuns: 60 });
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test('graphs in which every node leads to every other are placed', () => {
  for (const count of [2, 4, 6, 7]) {
    const names = Array.from({ length: count }, (_, i) => `s${i}`);
    const all = names.flatMap((_, from) =>
      names.flatMap((_, to) => ROLES.map((role): Edge => [from, to, role])),
    );
    expectPlaced(graphOf(names, all));
  }
});

test('thousands of states are placed in rows', () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `s${i}`);
  const chain = names.slice(1).map((_, i): Edge => [i, i + 1]);
  const star = names.map((_, i): Edge => [0, i]);
  const back = names.map((_, i): Edge => [i, 0, 'result']);
  expectPlaced(graphOf(names, [...chain, ...star, ...back]));
  expectPlaced(graphOf(names, []));
});

test('a graph without nodes is placed', () => {
  expectPlaced(graphOf([], []));
});

test('a graph that is too large to look at is not drawn', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`);
  const loops = (count: number) => Array.from({ length: count }, (): Edge => [0, 0]);
  expect(tooLargeToDraw(graphOf(names(2_000), loops(5_000)))).toBeUndefined();
  expect(tooLargeToDraw(graphOf(names(2_001), []))).toContain('2,000 states');
  expect(tooLargeToDraw(graphOf(names(1), loops(5_001)))).toContain('5,000 transitions');
});
