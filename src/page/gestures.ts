import type { Point } from './view.ts';

export interface Acts {
  /** Moves the view by a distance on the screen. */
  readonly move: (dx: number, dy: number) => void;
  /** `at` is counted from the middle of the pane. */
  readonly zoom: (factor: number, at: Point) => void;
}

/** Dragging moves, and the wheel or two fingers zoom. A click on a state stays a click. */
export function gestures(pane: HTMLElement, { move, zoom }: Acts): void {
  const pointers = new Map<number, Point>();
  let isDragging = false;

  pane.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    if (pointers.size === 0) isDragging = false;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  pane.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (!isDragging && Math.hypot(dx, dy) < SMALLEST_DRAG) return;
    // From here on, the pane gets the movements, even outside of it.
    if (!isDragging) pane.setPointerCapture(event.pointerId);
    isDragging = true;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    if (!other) return move(-dx, -dy);
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    zoom(distance(now, other) / Math.max(1, distance(before, other)), fromMiddle(pane, middle));
    move(-dx / 2, -dy / 2);
  });
  for (const end of ['pointerup', 'pointercancel'] as const) {
    pane.addEventListener(end, ({ pointerId }) => pointers.delete(pointerId));
  }
  const prevent = (event: Event) => event.preventDefault();
  pane.addEventListener('dragstart', prevent);
  pane.addEventListener('click', (event) => isDragging && prevent(event), true);
  pane.addEventListener(
    'wheel',
    (event) => {
      prevent(event);
      if (event.shiftKey) return move(event.deltaX || event.deltaY, 0);
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const factor = Math.exp((-event.deltaY * lines) / WHEEL);
      zoom(factor, fromMiddle(pane, { x: event.clientX, y: event.clientY }));
      move(event.deltaX, 0);
    },
    { passive: false },
  );
}

/** A hand that clicks may tremble. */
const SMALLEST_DRAG = 4;
const WHEEL = 400;

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

function fromMiddle(pane: HTMLElement, { x, y }: Point): Point {
  const { left, top, width, height } = pane.getBoundingClientRect();
  return { x: x - left - width / 2, y: y - top - height / 2 };
}
