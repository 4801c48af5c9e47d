import { Graph as Dagre, layout } from '@dagrejs/dagre';
import type { Graph, GraphEdge } from '../graph/graph.ts';
import {
  anchored,
  bundlesOf,
  type Layout,
  labelWidth,
  loopAt,
  type Point,
  type Size,
  sizeOf,
  type Words,
} from './layout-parts.ts';

/** The layout by the dagre library. It is slow for large graphs, and the library throws on some. */
export function dagreLayout(graph: Graph, words: Words): Layout {
  const dagre = new Dagre<Record<string, number | string>, Size, EdgeSize>({ multigraph: true });
  dagre.setGraph({
    rankdir: 'TB',
    nodesep: 36,
    edgesep: 18,
    ranksep: 52,
    marginx: 28,
    marginy: 28,
  });
  // The library uses names as keys of plain objects, where names such as `constructor` would clash.
  const ids = new Map(graph.nodes.map(({ id }, index) => [id, `n${index}`]));
  const idOf = (id: string) => ids.get(id) ?? '';
  for (const node of graph.nodes) dagre.setNode(idOf(node.id), sizeOf(node, words.detail(node)));
  const bundles = bundlesOf(graph);
  for (const [index, edges] of bundles.entries()) {
    const { from, to } = edges[0];
    const width = labelWidth(words.label(edges));
    const weight = weightOf(edges[0]);
    dagre.setEdge(idOf(from), idOf(to), { width, height: 18, labelpos: 'c', weight }, `e${index}`);
  }
  layout(dagre);
  return {
    ...sizeOfAll(dagre.graph()),
    nodes: graph.nodes.map((node) => ({ node, ...placed(dagre.node(idOf(node.id))) })),
    edges: bundles.map((edges, index) => {
      const [from, to] = [idOf(edges[0].from), idOf(edges[0].to)];
      const edge = dagre.edge(from, to, `e${index}`);
      const labelAt = { x: edge.x ?? 0, y: edge.y ?? 0 };
      const points =
        from === to
          ? loopAt(dagre.node(from), labelAt)
          : anchored(edge.points ?? [], dagre.node(from), dagre.node(to));
      return { edges, label: words.label(edges), points, labelAt };
    }),
  };
}

interface EdgeSize extends Size {
  labelpos: string;
  weight: number;
  points?: Point[];
}

/**
 * Edges that an agent follows itself are kept straight. The position of a callee or a result
 * matters less.
 */
function weightOf({ role }: GraphEdge): number {
  return role === 'go' || role === 'next' || role === 'return' || role === 'answer' ? 3 : 1;
}

function sizeOfAll({ width, height }: { width?: unknown; height?: unknown }) {
  return { width: Math.ceil(Number(width) || 0), height: Math.ceil(Number(height) || 0) };
}

function placed({ x = 0, y = 0, width, height }: Size) {
  return { x, y, width, height };
}
