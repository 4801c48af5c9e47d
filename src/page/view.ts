/** The visible part of a drawing: the point in the middle of the pane, and the magnification. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rect extends Size {
  readonly x: number;
  readonly y: number;
}

/** Everything, but not larger than life. */
export function fitted(drawing: Size, pane: Size): View {
  const scale = Math.min(1, pane.width / drawing.width, pane.height / drawing.height);
  return { x: drawing.width / 2, y: drawing.height / 2, scale };
}

/** Everything if one can read it then. Otherwise the beginning, in a size that one can read. */
export function opened(drawing: Size, pane: Size, entry: Rect | undefined, isAcross = false): View {
  const all = fitted(drawing, pane);
  if (all.scale >= READABLE || !entry) return all;
  if (isAcross) {
    const scale = Math.max(READABLE, Math.min(1, pane.height / drawing.height));
    return { x: pane.width / scale / 2, y: entry.y + entry.height / 2, scale };
  }
  const scale = Math.max(READABLE, Math.min(1, pane.width / drawing.width));
  const top = pane.height / scale / 2;
  return kept({ x: entry.x + entry.width / 2, y: top, scale }, drawing, pane);
}

export const READABLE = 0.6;

/** Moves the view by a distance on the screen. */
export function moved(view: View, dx: number, dy: number, drawing: Size): View {
  return {
    ...view,
    x: clamp(view.x + dx / view.scale, 0, drawing.width),
    y: clamp(view.y + dy / view.scale, 0, drawing.height),
  };
}

/** The point of the drawing under `at`, which is counted from the middle of the pane, stays there. */
export function zoomed(view: View, factor: number, at: Point, drawing: Size, pane: Size): View {
  const smallest = fitted(drawing, pane).scale / 2;
  const scale = clamp(view.scale * factor, Math.min(smallest, READABLE), LARGEST);
  const still = { x: view.x + at.x / view.scale, y: view.y + at.y / view.scale };
  return {
    x: clamp(still.x - at.x / scale, 0, drawing.width),
    y: clamp(still.y - at.y / scale, 0, drawing.height),
    scale,
  };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

const LARGEST = 4;

/** The rectangle in the middle, in a size that one can read. */
export function centred(view: View, rect: Rect): View {
  return {
    x: rect.x + rect.width / 2,
    y: rect.y + rect.height / 2,
    scale: Math.max(view.scale, READABLE),
  };
}

export function isInside(view: View, pane: Size, rect: Rect): boolean {
  const [width, height] = [pane.width / view.scale / 2, pane.height / view.scale / 2];
  return (
    rect.x >= view.x - width &&
    rect.y >= view.y - height &&
    rect.x + rect.width <= view.x + width &&
    rect.y + rect.height <= view.y + height
  );
}

/** Not beyond the sides of the drawing, if it is wider than the pane. */
function kept(view: View, drawing: Size, pane: Size): View {
  const half = pane.width / view.scale / 2;
  const x =
    drawing.width > 2 * half ? clamp(view.x, half, drawing.width - half) : drawing.width / 2;
  return { ...view, x };
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
