/** Places a graph on a plane. The page and the picture are drawn from this one layout. */

import type { Graph } from '../graph/graph.ts';
import { dagreLayout } from './dagre-layout.ts';
import { bundlesOf, type Layout, type Words } from './layout-parts.ts';
import { plainLayout } from './plain-layout.ts';

export type { Layout, PlacedEdge, PlacedNode, Point } from './layout-parts.ts';

/** Never throws. Falls back to rows when the graph is too large for the library, or the library fails. */
export function layoutOf(graph: Graph, words: Words): Layout {
  if (workFor(graph) > MOST_WORK) return plainLayout(graph, words);
  try {
    return dagreLayout(graph, words);
  } catch {
    return plainLayout(graph, words);
  }
}

/** The reason why a graph is not drawn; undefined when it is drawn. */
export function tooLargeToDraw({ nodes, edges }: Graph): string | undefined {
  if (nodes.length <= MOST_NODES && edges.length <= MOST_EDGES) return undefined;
  const count = (number: number) => number.toLocaleString('en');
  return `A picture can have at most ${count(MOST_NODES)} states and ${count(MOST_EDGES)} transitions. This workflow has ${count(nodes.length)} and ${count(edges.length)}.`;
}

const MOST_NODES = 2_000;
const MOST_EDGES = 5_000;

/** About a second. */
const MOST_WORK = 6_000;

/**
 * The library puts nodes in ranks, and a point on every rank that an edge passes. Its time grows
 * with the number of nodes and points.
 */
function workFor(graph: Graph): number {
  const { nodes } = graph;
  if (nodes.length > MOST_WORK) return nodes.length;
  const edges = bundlesOf(graph).map(([{ from, to }]) => ({ from, to }));
  const rank = ranksOf(graph, edges);
  const span = ({ from, to }: Ends) => Math.abs((rank.get(to) ?? 0) - (rank.get(from) ?? 0)) + 1;
  return nodes.length + edges.reduce((sum, edge) => sum + span(edge), 0);
}

interface Ends {
  readonly from: string;
  readonly to: string;
}

/** The longest path to each node, without edges that lead back. */
function ranksOf({ nodes }: Graph, edges: readonly Ends[]): ReadonlyMap<string, number> {
  const next = new Map(nodes.map(({ id }) => [id, [] as string[]]));
  for (const { from, to } of edges) next.get(from)?.push(to);
  const order = inOrder(next);
  const positions = new Map(order.map((id, index) => [id, index]));
  const rank = new Map<string, number>();
  for (const [index, id] of order.entries()) {
    const own = rank.get(id) ?? 0;
    rank.set(id, own);
    for (const to of next.get(id) ?? []) {
      const isBack = (positions.get(to) ?? 0) <= index;
      if (!isBack) rank.set(to, Math.max(rank.get(to) ?? 0, own + 1));
    }
  }
  return rank;
}

/** Each node before the nodes that it leads to, except in a circle. */
function inOrder(next: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const finished: string[] = [];
  const seen = new Set<string>();
  for (const root of next.keys()) {
    const open: { readonly id: string; readonly left: Iterator<string> }[] = [];
    const enter = (id: string) => {
      if (seen.has(id)) return;
      seen.add(id);
      open.push({ id, left: (next.get(id) ?? [])[Symbol.iterator]() });
    };
    enter(root);
    for (let at = open.at(-1); at; at = open.at(-1)) {
      const { done, value } = at.left.next();
      if (!done) enter(value);
      else finished.push(open.pop()?.id ?? '');
    }
  }
  return finished.reverse();
}
