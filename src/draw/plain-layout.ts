import { edgesByEnd, type Graph, type GraphNode } from '../graph/graph.ts';
import {
  anchor,
  bundlesOf,
  type Layout,
  loopAt,
  type PlacedEdge,
  type PlacedNode,
  sizeOf,
  type Words,
} from './layout-parts.ts';

/**
 * Rows of nodes, by their distance from the entry, and straight lines. Works for any graph in
 * linear time.
 */
export function plainLayout(graph: Graph, words: Words): Layout {
  const rows = rowsOf(graph);
  const nodes: PlacedNode[] = [];
  let width = 0;
  for (const [index, row] of rows.entries()) {
    let x = MARGIN;
    for (const node of row) {
      const size = sizeOf(node, words.detail(node));
      nodes.push({ node, ...size, x: x + size.width / 2, y: MARGIN + (index + 0.5) * ROW_HEIGHT });
      x += size.width + GAP;
    }
    width = Math.max(width, x - GAP + MARGIN);
  }
  const placedById = new Map(nodes.map((placed) => [placed.node.id, placed]));
  const byId = new Map(graph.nodes.map((node) => [node.id, placedById.get(node.id)]));
  return {
    width: Math.ceil(width),
    height: Math.ceil(2 * MARGIN + rows.length * ROW_HEIGHT),
    nodes: [...byId.values()].filter((placed) => placed !== undefined),
    edges: bundlesOf(graph).flatMap((edges) => {
      const [from, to] = [byId.get(edges[0].from), byId.get(edges[0].to)];
      return from && to ? [line(edges, words.label(edges), from, to)] : [];
    }),
  };
}

const [MARGIN, GAP, ROW_HEIGHT] = [28, 36, 122];
const MOST_IN_ROW = 12;

function rowsOf(graph: Graph): readonly (readonly GraphNode[])[] {
  const rows: GraphNode[][] = [];
  for (const rank of ranksOf(graph)) {
    for (let from = 0; from < rank.length; from += MOST_IN_ROW) {
      rows.push(rank.slice(from, from + MOST_IN_ROW));
    }
  }
  return rows;
}

/** The nodes by their distance from the entry. Nodes that nothing leads to come last. */
function ranksOf({ nodes, edges, entry }: Graph): readonly (readonly GraphNode[])[] {
  const { from: leaving } = edgesByEnd(edges);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const left = new Set(nodes);
  const ranks: GraphNode[][] = [];
  const begin = byId.get(entry);
  let rank = begin ? [begin] : [];
  for (const node of rank) left.delete(node);
  while (rank.length > 0) {
    ranks.push(rank);
    const following: GraphNode[] = [];
    for (const { id } of rank) {
      for (const { to } of leaving.get(id) ?? []) {
        const node = byId.get(to);
        if (node && left.delete(node)) following.push(node);
      }
    }
    rank = following;
  }
  return left.size > 0 ? [...ranks, [...left]] : ranks;
}

function line(
  edges: PlacedEdge['edges'],
  label: string,
  from: PlacedNode,
  to: PlacedNode,
): PlacedEdge {
  if (from === to) {
    const labelAt = { x: from.x + from.width / 2 + 24, y: from.y };
    return { edges, label, points: loopAt(from, labelAt), labelAt };
  }
  const points = [anchor(from, to), anchor(to, from)];
  const labelAt = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  return { edges, label, points, labelAt };
}
