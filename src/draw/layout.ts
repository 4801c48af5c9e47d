/** Places a picture on a plane. The page and the image are drawn from this one layout. */
import type { Graph } from '../graph/graph.ts';
import { type Directions, directionsOf } from './directions.ts';
import {
  LABEL_HEIGHT,
  type LabelSize,
  type Layout,
  labelWidth,
  loopsAt,
  loopsOf,
  type Space,
  spaceOf,
  type Words,
} from './layout-parts.ts';
import { type Piece, packed } from './pack.ts';
import type { Picture } from './picture.ts';
import { piecesOf } from './pieces.ts';
import { plainLayout } from './plain-layout.ts';
import { route } from './route.ts';
import { rowsOf } from './row-items.ts';
import { orderRows } from './row-order.ts';
import { straightenRows } from './straighten.ts';

export function layoutOf(picture: Picture, words: Words): Layout {
  const loops = loopsOf(picture);
  const spaces = new Map(
    picture.nodes.map((node) => [node.id, spaceOf(node, loops.get(node.id) ?? [], words)]),
  );
  return placedIn(picture, spaces, (edge) => ({
    width: labelWidth(words.label(edge)),
    height: LABEL_HEIGHT,
  }));
}

/** Rows from top to bottom, for boxes and labels of these sizes. */
export function placedIn(
  picture: Picture,
  spaces: ReadonlyMap<string, Space>,
  size: LabelSize,
): Layout {
  const loops = loopsOf(picture);
  const pieces = piecesOf(picture).map((piece) => {
    const { nodes, edges } = place(piece, spaces, size);
    const turns = nodes.flatMap((box) => loopsAt(box, loops.get(box.node.id) ?? [], size));
    return { nodes, edges: [...edges, ...turns] };
  });
  return packed(pieces, spaces, size);
}

/** The reason why a graph is not drawn; undefined when it is drawn. */
export function tooLargeToDraw({ nodes, edges }: Graph): string | undefined {
  if (nodes.length <= MOST_NODES && edges.length <= MOST_EDGES) return undefined;
  const count = (number: number) => number.toLocaleString('en');
  return `A picture can have at most ${count(MOST_NODES)} states and ${count(MOST_EDGES)} transitions. This workflow has ${count(nodes.length)} and ${count(edges.length)}.`;
}

const MOST_NODES = 2_000;
const MOST_EDGES = 5_000;

/** A piece that is too large for the better layout is placed in plain rows. */
function place(piece: Picture, spaces: ReadonlyMap<string, Space>, size: LabelSize): Piece {
  const directions = directionsOf(piece);
  if (itemsIn(piece, directions) > MOST_ITEMS) return plainLayout(piece, spaces);
  const rows = rowsOf(piece, spaces, directions, size);
  if (rows.items.some((row) => row.length > LONGEST_ROW)) return plainLayout(piece, spaces);
  orderRows(rows);
  straightenRows(rows);
  return route(piece.nodes, rows, spaces, size);
}

/** About a second. */
const MOST_ITEMS = 6_000;
/** A longer row is not readable, and takes time in proportion to the square of its length. */
const LONGEST_ROW = 300;

/** Every edge has an item in each row that it passes. */
function itemsIn({ nodes, edges }: Picture, { ranks }: Directions): number {
  const rankOf = (id: string) => ranks.get(id) ?? 0;
  const spans = edges.map(({ from, to }) => 2 * Math.abs(rankOf(to) - rankOf(from)));
  return nodes.length + spans.reduce((sum, span) => sum + span, 0);
}
