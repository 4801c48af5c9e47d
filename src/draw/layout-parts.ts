/** The parts that every layout consists of. */
import { grouped } from '../graph/grouped.ts';
import type { Picture, PictureEdge, PictureNode } from './picture.ts';
import { textWidth } from './text-width.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** `x` and `y` are the centre. */
export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

export interface PlacedNode extends Box {
  readonly node: PictureNode;
}

export interface PlacedEdge {
  readonly edge: PictureEdge;
  /** The corners of the line. A line from a node to itself is a curve through its three points. */
  readonly points: readonly Point[];
  readonly labelAt: Point;
}

/** The texts of a drawing. Their lengths determine the space that they need. */
export interface Words {
  readonly name: (node: PictureNode) => string;
  /** The second line of a node. */
  readonly detail: (node: PictureNode) => string;
  /** The text on the mark of a node that may end with a result. */
  readonly result: (node: PictureNode) => string;
  readonly label: (edge: PictureEdge) => string;
}

export const LABEL_HEIGHT = 16;
export const MARK_GAP = 8;

/** The space of a node: its box, its loops on the left and its mark on the right. */
export interface Space {
  readonly left: number;
  readonly width: number;
  readonly right: number;
  readonly height: number;
}

export function spaceOf(node: PictureNode, loops: readonly PictureEdge[], words: Words): Space {
  const labels = loops.map((edge) => labelWidth(words.label(edge)));
  const name = textWidth(words.name(node), 14, 'bold');
  const detail = textWidth(words.detail(node), 11);
  const isReference = node.kind === 'reference';
  return {
    left: loopsReach(loops.length) + Math.max(0, ...labels),
    width: Math.round(Math.max(isReference ? 64 : 96, Math.max(name, detail) + 32)),
    right: node.result ? MARK_GAP + markWidth(words.result(node)) : 0,
    height: Math.max(isReference ? 32 : 50, loops.length * LABEL_HEIGHT),
  };
}

/** How much room a label needs along its row, and across the rows. Nothing if there is no label. */
export type LabelSize = (edge: PictureEdge) => {
  readonly width: number;
  readonly height: number;
};

export const labelWidth = (label: string) => (label === '' ? 0 : 8 + textWidth(label, 11));
export const markWidth = (text: string) => Math.round(18 + textWidth(text, 11, 'bold'));

export const loopsReach = (loops: number) => (loops === 0 ? 0 : LOOP_REACH + LOOP_STEP * loops);
const [LOOP_REACH, LOOP_STEP] = [10, 6];

/** Loops leave a node on its left side, pass their labels, and return. */
export function loopsAt(box: Box, loops: readonly PictureEdge[], size: LabelSize): PlacedEdge[] {
  const left = box.x - box.width / 2;
  const step = Math.max(LABEL_HEIGHT, ...loops.map((edge) => size(edge).height));
  return loops.map((edge, index) => {
    const reach = left - LOOP_REACH - LOOP_STEP * (index + 1);
    const y = box.y + (index - (loops.length - 1) / 2) * step;
    const height = 6 + LOOP_STEP * index;
    const points = [
      { x: left, y: box.y - height },
      { x: reach, y },
      { x: left, y: box.y + height },
    ];
    return { edge, points, labelAt: { x: reach - size(edge).width / 2, y } };
  });
}

/** The edges from a node to itself, by the node. */
export function loopsOf({ edges }: Picture): ReadonlyMap<string, readonly PictureEdge[]> {
  const loops = edges.filter(({ from, to }) => from === to);
  return grouped(loops, ({ from }) => from);
}
