/** Places a graph on a plane. Page and picture are drawn from this one layout. */
import { Graph as Dagre, layout } from '@dagrejs/dagre';
import type { Graph, GraphEdge, GraphNode } from './graph.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

/** `x` and `y` are its middle. */
export interface PlacedNode extends Point {
  readonly node: GraphNode;
  readonly width: number;
  readonly height: number;
}

/** Edges of one role between the same two nodes are drawn as one. */
export interface PlacedEdge {
  readonly edges: readonly [GraphEdge, ...GraphEdge[]];
  readonly label: string;
  readonly points: readonly Point[];
  readonly labelAt: Point;
}

/** `detail` is the second line of a node, `label` the words at an edge: their length takes room. */
export interface Words {
  readonly detail: (node: GraphNode) => string;
  readonly label: (edges: readonly GraphEdge[]) => string;
}

export function layoutOf(graph: Graph, words: Words): Layout {
  const dagre = new Dagre<Record<string, number | string>, Size, EdgeSize>({ multigraph: true });
  dagre.setGraph({
    rankdir: 'TB',
    nodesep: 36,
    edgesep: 18,
    ranksep: 52,
    marginx: 28,
    marginy: 28,
  });
  const sizes = new Map(graph.nodes.map((node) => [node.id, sizeOf(node, words.detail(node))]));
  for (const [id, size] of sizes) dagre.setNode(id, { ...size });
  const bundles = bundle(graph.edges);
  for (const [name, edges] of bundles) {
    const { from, to } = edges[0];
    const width = 10 + words.label(edges).length * LETTER.edge;
    dagre.setEdge(from, to, { width, height: 18, labelpos: 'c', weight: weightOf(edges[0]) }, name);
  }
  layout(dagre);
  return {
    ...sizeOfAll(dagre.graph()),
    nodes: graph.nodes.map((node) => ({ node, ...placed(dagre.node(node.id)) })),
    edges: [...bundles].map(([name, edges]) => {
      const { from, to } = edges[0];
      const edge = dagre.edge(from, to, name);
      const labelAt = { x: edge.x ?? 0, y: edge.y ?? 0 };
      const points =
        from === to
          ? loopAt(dagre.node(from), labelAt)
          : anchored(edge.points ?? [], dagre.node(from), dagre.node(to));
      return { edges, label: words.label(edges), points, labelAt };
    }),
  };
}

interface Size {
  width: number;
  height: number;
  x?: number;
  y?: number;
}

interface EdgeSize extends Size {
  labelpos: string;
  weight: number;
  points?: Point[];
}

/** Mean width of a letter in the fonts of the drawing: there is no browser to ask. */
const LETTER = { label: 8.6, detail: 6.3, edge: 6.4 };

function sizeOf(node: GraphNode, detail: string): Size {
  if (node.kind === 'end') return { width: 76, height: 30 };
  const width = Math.max(node.label.length * LETTER.label, detail.length * LETTER.detail);
  return { width: Math.round(Math.max(96, width + 36)), height: 52 };
}

type Bundle = [GraphEdge, ...GraphEdge[]];

function bundle(edges: readonly GraphEdge[]): ReadonlyMap<string, Bundle> {
  const bundles = new Map<string, Bundle>();
  for (const edge of edges) {
    const key = JSON.stringify([edge.from, edge.to, edge.role]);
    const others = bundles.get(key);
    if (others) others.push(edge);
    else bundles.set(key, [edge]);
  }
  return bundles;
}

/** The way on is kept straight; where a callee or a result lies matters less. */
function weightOf({ role }: GraphEdge): number {
  return role === 'go' || role === 'next' || role === 'return' || role === 'answer' ? 3 : 1;
}

/** Ends moved to the top or bottom of their nodes, whichever faces the edge. */
function anchored(points: readonly Point[], from: Size, to: Size): readonly Point[] {
  const inner = points.slice(1, -1);
  const [first, last] = [inner[0], inner.at(-1)];
  if (!first || !last) return points;
  return [anchor(from, first), ...inner, anchor(to, last)];
}

function anchor({ x = 0, y = 0, width, height }: Size, towards: Point): Point {
  const reach = width / 2 - 16;
  return {
    x: Math.min(x + reach, Math.max(x - reach, towards.x)),
    y: towards.y < y ? y - height / 2 : y + height / 2,
  };
}

/** Out of the right side, round to the label, and back in. */
function loopAt({ x = 0, y = 0, width, height }: Size, labelAt: Point): readonly Point[] {
  const right = x + width / 2;
  return [
    { x: right, y: y - height / 4 },
    { x: labelAt.x, y },
    { x: right, y: y + height / 4 },
  ];
}

function sizeOfAll({ width, height }: { width?: unknown; height?: unknown }) {
  return { width: Math.ceil(Number(width) || 0), height: Math.ceil(Number(height) || 0) };
}

function placed({ x = 0, y = 0, width, height }: Size) {
  return { x, y, width, height };
}
