import type { LabelSize, Layout, PlacedEdge, PlacedNode, Point, Space } from './layout-parts.ts';

export type Piece = Pick<Layout, 'nodes' | 'edges'>;

/**
 * Puts pieces beside each other. The first piece has the entry. The others are in columns on its
 * right, or in rows below it if it is wide.
 */
export function packed(
  pieces: readonly Piece[],
  spaces: ReadonlyMap<string, Space>,
  size: LabelSize,
): Layout {
  const sized = pieces.map((piece) => ({ piece, area: areaOf(piece, spaces, size) }));
  const [main, ...others] = sized;
  if (!main) return { width: 2 * MARGIN, height: 2 * MARGIN, nodes: [], edges: [] };
  const [width, height] = [sizeOf(main.area).x, sizeOf(main.area).y];
  const places = others.map(({ area }) => sizeOf(area));
  const isWide = width > height;
  const turned = (point: Point) => (isWide ? { x: point.y, y: point.x } : point);
  const limit = Math.max(isWide ? width : height, SMALLEST_LIMIT);
  const corners = columns(places.map(turned), limit - LOWER).map(turned);
  const start = isWide ? { x: 0, y: height + GAP } : { x: width + GAP, y: LOWER };
  const moved = [
    shifted(main.piece, { x: -main.area.left, y: -main.area.top }),
    ...others.map(({ piece, area }, index) => {
      const corner = corners[index] ?? { x: 0, y: 0 };
      return shifted(piece, {
        x: start.x + corner.x - area.left,
        y: start.y + corner.y - area.top,
      });
    }),
  ];
  const ends = places.map((size, index) => ({
    x: start.x + (corners[index]?.x ?? 0) + size.x,
    y: start.y + (corners[index]?.y ?? 0) + size.y,
  }));
  return {
    width: Math.ceil(Math.max(width, ...ends.map(({ x }) => x)) + 2 * MARGIN),
    height: Math.ceil(Math.max(height, ...ends.map(({ y }) => y)) + 2 * MARGIN),
    nodes: moved.flatMap(({ nodes }) => nodes),
    edges: moved.flatMap(({ edges }) => edges),
  };
}

const [MARGIN, GAP, LOWER] = [28, 56, 28];
const SMALLEST_LIMIT = 600;

/** The corners of boxes below each other, in columns that are not much higher than `limit`. */
function columns(sizes: readonly Point[], limit: number): readonly Point[] {
  let [x, y, widest] = [0, 0, 0];
  return sizes.map((size) => {
    if (y > 0 && y + size.y > limit) {
      x += widest + GAP;
      [y, widest] = [0, 0];
    }
    const corner = { x, y };
    y += size.y + GAP;
    widest = Math.max(widest, size.x);
    return corner;
  });
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const sizeOf = ({ left, top, right, bottom }: Area): Point => ({
  x: right - left,
  y: bottom - top,
});

/** Everything that is drawn, with its labels. */
function areaOf(
  { nodes, edges }: Piece,
  spaces: ReadonlyMap<string, Space>,
  size: LabelSize,
): Area {
  let area: Area | undefined;
  const add = (left: number, top: number, right: number, bottom: number) => {
    area = {
      left: Math.min(area?.left ?? left, left),
      top: Math.min(area?.top ?? top, top),
      right: Math.max(area?.right ?? right, right),
      bottom: Math.max(area?.bottom ?? bottom, bottom),
    };
  };
  for (const { node, x, y, width, height } of nodes) {
    const { left = 0, right = 0 } = spaces.get(node.id) ?? {};
    add(x - width / 2 - left, y - height / 2, x + width / 2 + right, y + height / 2);
  }
  for (const { edge, points, labelAt } of edges) {
    for (const { x, y } of points) add(x, y, x, y);
    const { width, height } = size(edge);
    if (width === 0) continue;
    const { x, y } = labelAt;
    add(x - width / 2, y - height / 2, x + width / 2, y + height / 2);
  }
  return area ?? { left: 0, top: 0, right: 0, bottom: 0 };
}

function shifted({ nodes, edges }: Piece, by: Point): Piece {
  const move = <T extends Point>(point: T): T => ({
    ...point,
    x: point.x + by.x + MARGIN,
    y: point.y + by.y + MARGIN,
  });
  return {
    nodes: nodes.map((node): PlacedNode => move(node)),
    edges: edges.map(
      (edge): PlacedEdge => ({
        ...edge,
        points: edge.points.map(move),
        labelAt: move(edge.labelAt),
      }),
    ),
  };
}
