import { grouped } from '../graph/grouped.ts';
import type { Box, Layout, PlacedEdge, PlacedNode, Space } from './layout-parts.ts';
import type { Picture, PictureEdge, PictureNode } from './picture.ts';

/**
 * Rows of nodes, by their distance from the entry, and straight lines. Works for any picture in
 * linear time.
 */
export function plainLayout(
  picture: Picture,
  spaces: ReadonlyMap<string, Space>,
): Pick<Layout, 'nodes' | 'edges'> {
  const placed = new Map<string, PlacedNode>();
  for (const [index, row] of rowsOf(picture).entries()) {
    let x = 0;
    for (const node of row) {
      const { left, width, right, height } = spaces.get(node.id) ?? NO_SPACE;
      const box = { x: x + left + width / 2, y: index * ROW_HEIGHT, width, height };
      placed.set(node.id, { node, ...box });
      x += left + width + right + GAP;
    }
  }
  return {
    nodes: picture.nodes.flatMap(({ id }) => placed.get(id) ?? []),
    edges: picture.edges.flatMap((edge) => {
      const [from, to] = [placed.get(edge.from), placed.get(edge.to)];
      return from && to && from !== to ? [line(edge, from, to)] : [];
    }),
  };
}

const NO_SPACE: Space = { left: 0, width: 0, right: 0, height: 0 };
const [GAP, ROW_HEIGHT] = [36, 122];
const MOST_IN_ROW = 12;

function rowsOf(picture: Picture): readonly (readonly PictureNode[])[] {
  const rows: PictureNode[][] = [];
  for (const rank of ranksOf(picture)) {
    for (let from = 0; from < rank.length; from += MOST_IN_ROW) {
      rows.push(rank.slice(from, from + MOST_IN_ROW));
    }
  }
  return rows;
}

/** The nodes by their distance from the entry. Nodes that nothing leads to come last. */
function ranksOf({ nodes, edges, entry }: Picture): readonly (readonly PictureNode[])[] {
  const leaving = grouped(edges, ({ from }) => from);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const left = new Set(nodes);
  const ranks: PictureNode[][] = [];
  const begin = byId.get(entry);
  let rank = begin ? [begin] : [];
  for (const node of rank) left.delete(node);
  while (rank.length > 0) {
    ranks.push(rank);
    const following: PictureNode[] = [];
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

function line(edge: PictureEdge, from: Box, to: Box): PlacedEdge {
  const labelAt = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  return { edge, points: [touch(from, to), touch(to, from)], labelAt };
}

/** A point on the upper or lower side of a box, whichever faces the other box. */
function touch({ x, y, width, height }: Box, towards: Box) {
  const reach = Math.max(0, width / 2 - 16);
  return {
    x: Math.min(x + reach, Math.max(x - reach, towards.x)),
    y: towards.y < y ? y - height / 2 : y + height / 2,
  };
}
