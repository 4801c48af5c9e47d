import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Arranger, regionsOf, type ShownGraph } from './arrange.ts';
import type { RunGraph } from './run-graph.ts';

type Node = RunGraph['nodes'][number];
type Edge = RunGraph['edges'][number];

/** A graph from pairs of numbers. Its places are wrong, because the arranger makes new ones. */
function graphOf(ways: readonly (readonly [number, number])[], more: Partial<Node> = {}): RunGraph {
  const ids = [...new Set([0, ...ways.flat()])];
  const nodes = ids.map((n): Node => {
    const place = { x: 0, y: 0, width: 180, height: 50 };
    const used = { visits: 1, time_ms: 1_000, cost_usd: 0.5 };
    const label = `S${n}`;
    const agents = [{ id: `agent-${n}`, status: 'running' as const }];
    return {
      ...{ id: `s${n}`, kind: 'prompt', shows: `s${n}`, state: `${label}.md`, label, name: label },
      ...{ detail: 'prompt', ...place, ...used, agents, ...more },
    };
  });
  const edges = ways.map(([from, to]): Edge => {
    const line = { points: [], label_at: { x: 0, y: 0 } };
    return { from: `s${from}`, to: `s${to}`, role: 'go', label: '', taken: 1, ...line };
  });
  return { name: 'g', entry: 's0', width: 1, height: 1, nodes, edges, elsewhere: [] };
}

const chain = (length: number) =>
  graphOf(Array.from({ length: length - 1 }, (_, n) => [n, n + 1] as const));

const NONE: ReadonlySet<string> = new Set();

/** Pairs of boxes that cover each other. */
function overlaps({ nodes }: ShownGraph): readonly string[] {
  return nodes.flatMap((a, index) =>
    nodes
      .slice(index + 1)
      .filter(
        (b) =>
          Math.abs(a.x - b.x) < (a.width + b.width) / 2 &&
          Math.abs(a.y - b.y) < (a.height + b.height) / 2,
      )
      .map((b) => `${a.id} ${b.id}`),
  );
}

test('a chain goes to the right, and its lines touch its boxes', () => {
  const shown = new Arranger().shown(chain(8), NONE, true);
  expect(shown.width).toBeGreaterThan(shown.height * 4);
  const xs = shown.nodes.map(({ x }) => x);
  expect(xs).toEqual(xs.toSorted((a, b) => a - b));
  for (const { from, to, points } of shown.edges) {
    const [start, end] = [from, to].map((id) => shown.nodes.find((one) => one.id === id));
    expect(points[0]?.x).toBeCloseTo((start?.x ?? 0) + 90, 0);
    expect(points.at(-1)?.x).toBeCloseTo((end?.x ?? 0) - 90, 0);
  }
});

test('nothing moves while numbers grow', () => {
  const arranger = new Arranger();
  const before = arranger.shown(chain(8), NONE, true);
  const after = arranger.shown({ ...chain(8), nodes: chain(8).nodes }, NONE, true);
  expect(after.nodes.map(({ x, y }) => [x, y])).toEqual(before.nodes.map(({ x, y }) => [x, y]));
});

test('a small graph has no regions, and a large one has parts of a useful size', () => {
  expect(regionsOf(chain(20)).size).toBe(0);
  const sizes = [...regionsOf(chain(60)).values()].map((region) => region.length);
  expect(sizes.length).toBeGreaterThan(5);
  expect(Math.max(...sizes)).toBeLessThan(15);
});

test('a folded state has the agents, the time and the cost of its region', () => {
  const graph = chain(60);
  const regions = regionsOf(graph);
  const shown = new Arranger().shown(graph, new Set(regions.keys()), false);
  expect(shown.nodes.length).toBeLessThan(20);
  expect(shown.nodes.flatMap(({ agents }) => agents)).toHaveLength(60);
  const sum = (of: 'time_ms' | 'cost_usd') => shown.nodes.reduce((all, one) => all + one[of], 0);
  expect(sum('time_ms')).toBe(60_000);
  expect(sum('cost_usd')).toBeCloseTo(30);
  expect(shown.nodes.reduce((all, { folded = 0 }) => all + folded + 1, 0)).toBe(60);
});

describe('any graph', () => {
  const place = fc.integer({ min: 0, max: 40 });
  const ways = fc.array(fc.tuple(place, place), { minLength: 1, maxLength: 80 });
  test('can be turned and folded: no box covers another, and every line has its ends', () => {
    fc.assert(
      fc.property(ways, fc.boolean(), fc.boolean(), (pairs, isAcross, isFolded) => {
        const graph = graphOf(pairs);
        const folded = isFolded ? new Set(regionsOf(graph).keys()) : NONE;
        // The places that it comes with count if it is neither turned nor folded.
        const shown = new Arranger().shown(graph, folded, isAcross);
        if (!isAcross && folded.size === 0) return;
        expect(overlaps(shown)).toEqual([]);
        const ids = new Set(shown.nodes.map(({ id }) => id));
        for (const { from, to, points } of shown.edges) {
          expect([ids.has(from), ids.has(to)]).toEqual([true, true]);
          expect(points.length).toBeGreaterThan(1);
        }
        expect(shown.nodes.flatMap(({ agents }) => agents)).toHaveLength(graph.nodes.length);
      }),
      { numRuns: 60 },
    );
  });
});
