import type { Point } from './layout-parts.ts';

/** A line through corners, which are rounded. */
export function lineThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (!first || !last) return '';
  let path = `M${at(first)}`;
  for (const [index, corner] of rest.slice(0, -1).entries()) {
    const [before, after] = [points[index] ?? corner, points[index + 2] ?? corner];
    const radius = Math.min(RADIUS, distance(before, corner) / 2, distance(corner, after) / 2);
    path += `L${at(towards(corner, before, radius))}Q${at(corner)} ${at(towards(corner, after, radius))}`;
  }
  return `${path}L${at(last)}`;
}

const RADIUS = 8;

/** A curve that touches the second of its three points. It begins and ends on one side of a box. */
export function loopThrough([first, middle, last]: readonly Point[]): string {
  if (!first || !middle || !last) return '';
  if (first.y === last.y) {
    const reach = first.y + ((middle.y - first.y) * 4) / 3;
    const out = { x: first.x - 4, y: reach };
    return `M${at(first)}C${at(out)} ${at({ x: last.x + 4, y: reach })} ${at(last)}`;
  }
  const reach = first.x + ((middle.x - first.x) * 4) / 3;
  const out = { x: reach, y: first.y - 4 };
  return `M${at(first)}C${at(out)} ${at({ x: reach, y: last.y + 4 })} ${at(last)}`;
}

export const rounded = (value: number) => Math.round(value * 10) / 10;

const at = ({ x, y }: Point) => `${rounded(x)} ${rounded(y)}`;

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to);
  if (whole === 0) return from;
  return {
    x: from.x + ((to.x - from.x) * length) / whole,
    y: from.y + ((to.y - from.y) * length) / whole,
  };
}

/** A padlock, around its middle. */
export const LOCK = 'M-4 0h8v6h-8zM-2.5 0v-2a2.5 2.5 0 0 1 5 0v2';

/** Most drawings have no lock, so it brings its style along. */
export const LOCK_STYLE = 'style="fill:none;stroke:var(--faint);stroke-width:1.5"';
