import { grouped } from '../graph/grouped.ts';

import {
  LABEL_HEIGHT,
  type LabelSize,
  type Layout,
  type PlacedEdge,
  type PlacedNode,
  type Point,
  type Space,
} from './layout-parts.ts';
import type { PictureNode } from './picture.ts';
import { portsOn } from './ports.ts';
import type { RowLine, Rows } from './row-items.ts';
import { type Shift, tracksFor } from './tracks.ts';

/**
 * Turns rows into a layout. A line runs straight down, and changes its x only between two rows. So no
 * line passes through a node or a label.
 */
export function route(
  nodes: readonly PictureNode[],
  rows: Rows,
  spaces: ReadonlyMap<string, Space>,
  size: LabelSize,
): Pick<Layout, 'nodes' | 'edges'> {
  const boxes = new Map(nodes.map(({ id }) => [id, boxOf(rows, spaces, id)]));
  const paths = pathsOf(rows.lines, boxes);
  const { middleOf, yOf } = positionsOf(heightsOf(rows, spaces, size), paths);
  const placed = nodes.map((node): PlacedNode => {
    const { row, ...box } = boxes.get(node.id) ?? NOWHERE;
    return { node, ...box, y: middleOf(row) };
  });
  const byId = new Map(placed.map((box) => [box.node.id, box]));
  const edges = paths.map(({ line, row, xs, shifts }): PlacedEdge => {
    const [upper, lower] = [byId.get(line.upper), byId.get(line.lower)];
    const points: readonly Point[] = [
      { x: xs[0] ?? 0, y: upper ? upper.y + upper.height / 2 : 0 },
      ...shifts.flatMap((shift) => [
        { x: shift.above, y: yOf(shift) },
        { x: shift.below, y: yOf(shift) },
      ]),
      { x: xs.at(-1) ?? 0, y: lower ? lower.y - lower.height / 2 : 0 },
    ];
    const labelRow = line.label?.row ?? row;
    return {
      edge: line.edge,
      points: line.upper === line.edge.from ? points : points.toReversed(),
      labelAt: { x: xs[labelRow - row] ?? 0, y: middleOf(labelRow) },
    };
  });
  return { nodes: placed, edges };
}

interface RowBox {
  readonly row: number;
  readonly x: number;
  readonly width: number;
  readonly height: number;
}

const NOWHERE: RowBox = { row: 0, x: 0, width: 0, height: 0 };

function boxOf(rows: Rows, spaces: ReadonlyMap<string, Space>, id: string): RowBox {
  const [item, space] = [rows.nodes.get(id), spaces.get(id)];
  if (!item || !space) return NOWHERE;
  return { row: item.row, x: item.x, width: space.width, height: space.height };
}

/** A line with its x in each row, from the row of its upper end. */
interface Path {
  readonly line: RowLine;
  readonly row: number;
  readonly xs: readonly number[];
  readonly shifts: readonly RowShift[];
}

interface RowShift extends Shift {
  /** The row above it. */
  readonly row: number;
}

function pathsOf(lines: readonly RowLine[], boxes: ReadonlyMap<string, RowBox>): readonly Path[] {
  const ends = lines.flatMap((line) => {
    const [upper, lower] = [boxes.get(line.upper) ?? NOWHERE, boxes.get(line.lower) ?? NOWHERE];
    const direct = (upper.x + lower.x) / 2;
    return [
      { line, box: upper, side: 'below', wanted: line.stops[0]?.x ?? direct } as const,
      { line, box: lower, side: 'above', wanted: line.stops.at(-1)?.x ?? direct } as const,
    ];
  });
  const ports = { above: new Map<RowLine, number>(), below: new Map<RowLine, number>() };
  for (const side of ['above', 'below'] as const) {
    const bySide = grouped(
      ends.filter((end) => end.side === side),
      ({ box }) => box,
    );
    for (const [box, own] of bySide) {
      for (const [{ line }, x] of portsOn(own, box.x, box.width)) ports[side].set(line, x);
    }
  }
  return lines.map((line) => {
    const { row } = boxes.get(line.upper) ?? NOWHERE;
    const xs = withoutSmallSteps([
      ports.below.get(line) ?? 0,
      ...line.stops.map(({ x }) => x),
      ports.above.get(line) ?? 0,
    ]);
    const shifts = xs.slice(1).flatMap((below, index) => {
      const above = xs[index] ?? below;
      return above === below ? [] : [{ row: row + index, above, below }];
    });
    return { line, row, xs, shifts };
  });
}

/** Leaves out steps that are too small to see. */
function withoutSmallSteps(xs: readonly number[]): readonly number[] {
  const steady: number[] = [];
  for (const x of xs) {
    const before = steady.at(-1);
    steady.push(before !== undefined && Math.abs(x - before) < SMALLEST_STEP ? before : x);
  }
  return steady;
}

const SMALLEST_STEP = 2;

function heightsOf(
  rows: Rows,
  spaces: ReadonlyMap<string, Space>,
  size: LabelSize,
): readonly number[] {
  const heights = rows.items.map(() => LABEL_HEIGHT);
  for (const [id, { row }] of rows.nodes) {
    heights[row] = Math.max(heights[row] ?? 0, spaces.get(id)?.height ?? 0);
  }
  for (const { edge, label } of rows.lines)
    if (label) heights[label.row] = Math.max(heights[label.row] ?? 0, size(edge).height);
  return heights;
}

/** The space between two rows grows with the number of lines that shift there. */
function positionsOf(heights: readonly number[], paths: readonly Path[]) {
  const shifts = grouped(
    paths.flatMap((path) => path.shifts),
    ({ row }) => row,
  );
  const ys = new Map<RowShift, number>();
  const middles: number[] = [];
  let y = 0;
  for (const [row, height] of heights.entries()) {
    middles.push(y + height / 2);
    y += height;
    const tracks = tracksFor(shifts.get(row) ?? []);
    const count = Math.max(0, ...[...tracks.values()].map((track) => track + 1));
    const gap = Math.max(SMALLEST_GAP, 2 * MARGIN + (count - 1) * TRACK);
    const first = y + (gap - (count - 1) * TRACK) / 2;
    for (const [shift, track] of tracks) ys.set(shift, first + track * TRACK);
    y += gap;
  }
  return {
    middleOf: (row: number) => middles[row] ?? 0,
    yOf: (shift: RowShift) => ys.get(shift) ?? 0,
  };
}

const [SMALLEST_GAP, MARGIN, TRACK] = [24, 14, 8];
