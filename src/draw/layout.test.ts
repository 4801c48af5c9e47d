import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TEN_WORKFLOWS } from '../../test/drawings/ten-workflows.ts';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { graphOf } from '../graph/graph.ts';
import { layoutOf, tooLargeToDraw } from './layout.ts';
import {
  type Box,
  LABEL_HEIGHT,
  type Layout,
  labelWidth,
  loopsOf,
  type Point,
  spaceOf,
  type Words,
} from './layout-parts.ts';
import { type LineRole, type Picture, pictureOf } from './picture.ts';
import { wordsFor } from './words.ts';

const WORDS: Words = wordsFor(undefined);

/** The ends are indexes of nodes. */
type Edge = readonly [from: number, to: number, role?: LineRole, label?: string];

function pictureWith(names: readonly string[], edges: readonly Edge[], result = false): Picture {
  const idOf = (index: number) => names[index] ?? '';
  return {
    name: 'picture',
    entry: idOf(0),
    nodes: names.map((id) => ({
      id,
      kind: 'missing',
      shows: { id, label: id, detail: 'missing', kind: 'missing' },
      result: result ? { from: id, to: 'end', role: 'result' } : undefined,
    })),
    edges: edges.map(([from, to, role = 'go', label = 'goto']) => ({
      from: idOf(from),
      to: idOf(to),
      role,
      label,
      taken: { from: idOf(from), to: idOf(to), role },
    })),
  };
}

function expectPlaced(picture: Picture): Layout {
  const layout = layoutOf(picture, WORDS);
  const { width, height, nodes, edges } = layout;
  const drawn = new Set<unknown>([...nodes.map(({ node }) => node), ...edges.map((e) => e.edge)]);
  expect(drawn.size).toBe(nodes.length + edges.length);
  expect([...picture.nodes, ...picture.edges].filter((part) => !drawn.has(part))).toEqual([]);
  const points = [...nodes, ...edges.flatMap((edge) => [...edge.points, edge.labelAt])];
  expect(points.every(({ x, y }) => x > 0 && y > 0 && x < width && y < height)).toBe(true);
  return layout;
}

/** A node with its mark and its loops. */
function spaces(picture: Picture, { nodes }: Layout): readonly (Box & { name: string })[] {
  const loops = loopsOf(picture);
  return nodes.map(({ node, x, y, width, height }) => {
    const { left, right } = spaceOf(node, loops.get(node.id) ?? [], WORDS);
    const box = { x: x + (right - left) / 2, y, width: left + width + right, height };
    return { ...box, name: node.id };
  });
}

function labels({ edges }: Layout): readonly (Box & { name: string })[] {
  return edges.flatMap(({ edge, labelAt }) => {
    const width = labelWidth(WORDS.label(edge));
    if (width === 0 || edge.from === edge.to) return [];
    return [{ ...labelAt, width, height: LABEL_HEIGHT, name: `${edge.from} ${edge.label}` }];
  });
}

function overlap(a: Box, b: Box): boolean {
  const [x, y] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
  return x < (a.width + b.width) / 2 - 1 && y < (a.height + b.height) / 2 - 1;
}

function overlaps(boxes: readonly (Box & { name: string })[]): readonly string[] {
  return boxes.flatMap((a, index) =>
    boxes.slice(index + 1).flatMap((b) => (overlap(a, b) ? [`${a.name} and ${b.name}`] : [])),
  );
}

/** The straight parts of a line, as boxes without a width or a height. */
function parts(points: readonly Point[]): readonly Box[] {
  return points.slice(1).map((to, index) => {
    const from = points[index] ?? to;
    return {
      x: (from.x + to.x) / 2,
      y: (from.y + to.y) / 2,
      width: Math.abs(from.x - to.x),
      height: Math.abs(from.y - to.y),
    };
  });
}

function expectReadable(picture: Picture): void {
  const layout = expectPlaced(picture);
  const boxes = spaces(picture, layout);
  expect(overlaps([...boxes, ...labels(layout)])).toEqual([]);
  const byId = new Map(layout.nodes.map((node) => [node.node.id, node]));
  const faults = layout.edges.flatMap(({ edge, points }) => {
    if (edge.from === edge.to) return [];
    const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
    const pieces = parts(points);
    const crossed = boxes.filter((box) => pieces.some((part) => overlap(part, box)));
    const isSlanted = pieces.some(({ width, height }) => Math.min(width, height) > 0.001);
    const isLoose = !from || !to || !touches(from, points[0]) || !touches(to, points.at(-1));
    return [
      ...crossed.map(({ name }) => `${edge.from} to ${edge.to} crosses ${name}`),
      ...(isSlanted ? [`${edge.from} to ${edge.to} is slanted`] : []),
      ...(isLoose ? [`${edge.from} to ${edge.to} has a loose end`] : []),
    ];
  });
  expect(faults).toEqual([]);
  const top = (box: Box) => box.y - box.height / 2;
  const entry = byId.get(picture.entry);
  expect(entry && top(entry)).toBe(Math.min(...layout.nodes.map(top)));
}

/** Whether a line ends on the upper or lower side of a node. */
function touches({ x, y, width, height }: Box, point: Point | undefined): boolean {
  if (!point) return false;
  return Math.abs(point.x - x) < width / 2 && Math.abs(Math.abs(point.y - y) - height / 2) < 0.001;
}

test.each(TEN_WORKFLOWS)('%s: nothing overlaps, and the entry is on top', (_, workflow) => {
  expectReadable(pictureOf(graphOf(workflow)));
});

test('a state that nothing leads to is not above the entry', () => {
  const files = {
    START: '<goto>A</goto>',
    A: '<result>x</result>',
    LOST: '<goto>LOST_TOO</goto>',
    LOST_TOO: '<goto>LOST_ALSO</goto>',
    LOST_ALSO: '<goto>A</goto>',
  };
  expectReadable(pictureOf(graphOf(workflowOf(files))));
});

const ROLES: readonly LineRole[] = ['go', 'call', 'return', 'worker', 'next', 'answer', 'judge'];
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
  '状態'.repeat(100),
];

test('every picture is readable: circles, loops, parallel edges, names that have a meaning in JavaScript', () => {
  const nodes = fc.uniqueArray(fc.oneof(fc.constantFrom(...HOSTILE), fc.string()), {
    minLength: 1,
    maxLength: 12,
  });
  const pictures = nodes.chain((names) => {
    const end = fc.nat(names.length - 1);
    const edge = fc.tuple(end, end, fc.constantFrom(...ROLES), fc.string({ maxLength: 12 }));
    const edges = fc.uniqueArray(edge, {
      maxLength: 40,
      selector: ([from, to, role]) => `${from} ${to} ${role}`,
    });
    return fc.tuple(edges, fc.boolean()).map(([own, ends]) => pictureWith(names, own, ends));
  });
  fc.assert(fc.property(pictures, expectReadable), { numRuns: 60 });
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test('pictures in which every node leads to every other are placed', () => {
  for (const count of [2, 4, 6, 7]) {
    const names = Array.from({ length: count }, (_, i) => `s${i}`);
    const all = names.flatMap((_, from) =>
      names.flatMap((_, to) => ROLES.map((role): Edge => [from, to, role])),
    );
    expectPlaced(pictureWith(names, all));
  }
});

test('thousands of states are placed in rows', () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `s${i}`);
  const chain = names.slice(1).map((_, i): Edge => [i, i + 1]);
  const star = names.map((_, i): Edge => [0, i]);
  const back = names.map((_, i): Edge => [i, 0, 'return']);
  expectPlaced(pictureWith(names, [...chain, ...star, ...back]));
  expectPlaced(pictureWith(names, []));
});

test('a picture without nodes is placed', () => {
  expectPlaced(pictureWith([], []));
});

test('a graph that is too large to look at is not drawn', () => {
  const nodes = (count: number) =>
    Array.from({ length: count }, (_, i) => pictureWith([`s${i}`], []).nodes[0]?.shows).flatMap(
      (node) => node ?? [],
    );
  const edges = (count: number) =>
    Array.from({ length: count }, () => ({
      from: 's0',
      to: 's0',
      role: 'go' as const,
      label: 'goto',
      certainty: 'certain' as const,
      origin: 'run' as const,
      at: { line: 1, column: 1 },
    }));
  const graph = { name: 'graph', entry: 's0', calls: [] };
  expect(tooLargeToDraw({ ...graph, nodes: nodes(2_000), edges: edges(5_000) })).toBeUndefined();
  expect(tooLargeToDraw({ ...graph, nodes: nodes(2_001), edges: [] })).toContain('2,000 states');
  expect(tooLargeToDraw({ ...graph, nodes: nodes(1), edges: edges(5_001) })).toContain(
    '5,000 transitions',
  );
});
