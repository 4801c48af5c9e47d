/** The parts that every layout consists of. */
import type { Graph, GraphEdge, GraphNode } from '../graph/graph.ts';

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

/** `x` and `y` are the centre. */
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

/**
 * `detail` is the second line of a node, `label` the text at an edge. Their lengths determine the
 * space they need.
 */
export interface Words {
  readonly detail: (node: GraphNode) => string;
  readonly label: (edges: readonly GraphEdge[]) => string;
}

export interface Size {
  width: number;
  height: number;
  x?: number;
  y?: number;
}

/** Mean width of a letter in the fonts of the drawing. No browser is available to measure it. */
const LETTER = { label: 8.6, detail: 6.3, edge: 6.4 };

export function sizeOf(node: GraphNode, detail: string): Size {
  if (node.kind === 'end') return { width: 76, height: 30 };
  const width = Math.max(node.label.length * LETTER.label, detail.length * LETTER.detail);
  return { width: Math.round(Math.max(96, width + 36)), height: 52 };
}

export const labelWidth = (label: string): number => 10 + label.length * LETTER.edge;

export type Bundle = readonly [GraphEdge, ...GraphEdge[]];

export function bundlesOf({ edges }: Graph): readonly Bundle[] {
  const bundles = new Map<string, [GraphEdge, ...GraphEdge[]]>();
  for (const edge of edges) {
    const key = JSON.stringify([edge.from, edge.to, edge.role]);
    const others = bundles.get(key);
    if (others) others.push(edge);
    else bundles.set(key, [edge]);
  }
  return [...bundles.values()];
}

/** Moves the ends of an edge to the top or bottom of their nodes, whichever faces the edge. */
export function anchored(points: readonly Point[], from: Size, to: Size): readonly Point[] {
  const inner = points.slice(1, -1);
  const [first, last] = [inner[0], inner.at(-1)];
  if (!first || !last) return points;
  return [anchor(from, first), ...inner, anchor(to, last)];
}

export function anchor({ x = 0, y = 0, width, height }: Size, towards: Point): Point {
  const reach = width / 2 - 16;
  return {
    x: Math.min(x + reach, Math.max(x - reach, towards.x)),
    y: towards.y < y ? y - height / 2 : y + height / 2,
  };
}

/** Leaves the node on its right side, passes the label, and returns. */
export function loopAt({ x = 0, y = 0, width, height }: Size, labelAt: Point): readonly Point[] {
  const right = x + width / 2;
  return [
    { x: right, y: y - height / 4 },
    { x: labelAt.x, y },
    { x: right, y: y + height / 4 },
  ];
}
