/**
 * The rows of a drawing. Every row contains nodes, or the labels of lines, and a stop of each line that
 * passes it. Rows are then ordered (`row-order.ts`) and straightened (`straighten.ts`).
 */
import type { Directions } from './directions.ts';
import type { LabelSize, Space } from './layout-parts.ts';
import type { Picture, PictureEdge } from './picture.ts';

export interface Rows {
  readonly items: readonly Item[][];
  readonly nodes: ReadonlyMap<string, Item>;
  readonly lines: readonly RowLine[];
}

/** A node, or a stop of a line. The layout determines its place in the row and its x. */
export interface Item {
  readonly row: number;
  /** How far it reaches to each side of its x. For a node, that is the middle of its box. */
  readonly left: number;
  readonly right: number;
  readonly isNode: boolean;
  /** Its lines to the row above, and to the row below. */
  readonly up: Link[];
  readonly down: Link[];
  place: number;
  x: number;
}

export interface Link {
  readonly item: Item;
  readonly weight: number;
}

export interface RowLine {
  readonly edge: PictureEdge;
  readonly upper: string;
  readonly lower: string;
  /** One in every row between its ends. */
  readonly stops: readonly Item[];
  readonly label: Item | undefined;
}

export function rowsOf(
  { nodes, edges }: Picture,
  spaces: ReadonlyMap<string, Space>,
  directions: Directions,
  size: LabelSize,
): Rows {
  const { backward, ranks } = directions;
  const rankOf = (id: string) => ranks.get(id) ?? 0;
  const spans = edges.flatMap((edge) => {
    if (edge.from === edge.to) return [];
    const [upper, lower] = backward.has(edge) ? [edge.to, edge.from] : [edge.from, edge.to];
    const { width } = size(edge);
    // Nodes have even rows. A label is in the odd row next to the middle of its line.
    const middle = rankOf(upper) + Math.floor((rankOf(lower) - rankOf(upper) - 1) / 2);
    return [{ edge, upper, lower, width, labelRow: width > 0 ? 2 * middle + 1 : undefined }];
  });
  const rowOf = usedRows([
    ...nodes.map(({ id }) => 2 * rankOf(id)),
    ...spans.flatMap(({ labelRow }) => labelRow ?? []),
  ]);

  const items: Item[][] = [];
  const add = (row: number, left: number, right: number, isNode: boolean): Item => {
    const others = items[row] ?? [];
    const place = others.length;
    const item = { row, left, right, isNode, up: [], down: [], place, x: 0 };
    others.push(item);
    items[row] = others;
    return item;
  };
  const placed = new Map<string, Item>();
  for (const { id } of nodes.toSorted((a, b) => directions.place(a.id) - directions.place(b.id))) {
    const { left = 0, width = 0, right = 0 } = spaces.get(id) ?? {};
    placed.set(id, add(rowOf(2 * rankOf(id)), left + width / 2, width / 2 + right, true));
  }
  const lines = spans.map(({ edge, upper, lower, width, labelRow }): RowLine => {
    const [first, last] = [rowOf(2 * rankOf(upper)) + 1, rowOf(2 * rankOf(lower))];
    const labelled = labelRow === undefined ? undefined : rowOf(labelRow);
    const stops = Array.from({ length: last - first }, (_, index) => {
      const half = first + index === labelled ? width / 2 : 0;
      return add(first + index, half, half, false);
    });
    const ends = [placed.get(upper), placed.get(lower)] as const;
    link([ends[0], ...stops, ends[1]], directions.first.has(edge));
    return { edge, upper, lower, stops, label: stops.find(({ row }) => row === labelled) };
  });
  return { items, nodes: placed, lines };
}

/** The numbers of the rows that contain a node or a label. The others are left out. */
function usedRows(used: readonly number[]): (row: number) => number {
  const sorted = [...new Set(used)].sort((a, b) => a - b);
  const numbers = new Map(sorted.map((row, number) => [row, number]));
  return (row) => numbers.get(row) ?? 0;
}

function link(chain: readonly (Item | undefined)[], isFirst: boolean): void {
  for (const [index, item] of chain.entries()) {
    const next = chain[index + 1];
    if (!item || !next) continue;
    const ends = Number(item.isNode) + Number(next.isNode);
    const weight = (WEIGHTS[ends] ?? 1) * (isFirst ? FIRST : 1);
    item.down.push({ item: next, weight });
    next.up.push({ item, weight });
  }
}

/** By the number of ends that are nodes. A bend in the middle of a long line looks worst. */
const WEIGHTS = [8, 2, 1];
/** The way by which the walk first came to a node is the main one. */
const FIRST = 3;
