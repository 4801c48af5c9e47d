import { expect, test } from 'vitest';
import { found } from './search.ts';
import { centred, fitted, isInside, moved, opened, zoomed } from './view.ts';

const drawing = { width: 1_000, height: 4_000 };
const pane = { width: 500, height: 400 };
const view = { x: 500, y: 500, scale: 1 };

test('everything is fitted into the pane, but not enlarged', () => {
  expect(fitted(drawing, pane)).toEqual({ x: 500, y: 2_000, scale: 0.1 });
  expect(fitted({ width: 100, height: 100 }, pane).scale).toBe(1);
});

test('a page opens with everything, or with the entry in a readable size', () => {
  const entry = { x: 900, y: 20, width: 80, height: 50 };
  const small = { width: 600, height: 400 };
  expect(opened(small, pane, entry)).toEqual(fitted(small, pane));
  const first = opened(drawing, pane, entry);
  expect(first.scale).toBeGreaterThanOrEqual(0.5);
  expect(isInside(first, pane, entry)).toBe(true);
});

test('a move is counted on the screen, and stays at the drawing', () => {
  expect(moved({ ...view, scale: 2 }, 100, -50, drawing)).toEqual({ x: 550, y: 475, scale: 2 });
  expect(moved(view, -9_999, 9_999, drawing)).toEqual({ x: 0, y: 4_000, scale: 1 });
});

test('the point under the pointer stays while the view is zoomed', () => {
  const at = { x: 100, y: -40 };
  const near = zoomed(view, 2, at, drawing, pane);
  expect(near.scale).toBe(2);
  expect(near.x + at.x / near.scale).toBeCloseTo(view.x + at.x);
  expect(near.y + at.y / near.scale).toBeCloseTo(view.y + at.y);
  expect(zoomed(view, 1e9, at, drawing, pane).scale).toBe(4);
  expect(zoomed(view, 1e-9, at, drawing, pane).scale).toBeCloseTo(0.05);
});

test('a centred rectangle is readable', () => {
  const rect = { x: 10, y: 3_000, width: 80, height: 50 };
  expect(centred({ ...view, scale: 0.1 }, rect)).toEqual({ x: 50, y: 3_025, scale: 0.6 });
  expect(isInside(view, pane, rect)).toBe(false);
});

test('a search finds names before texts', () => {
  const all = [
    { name: 'end.md', text: 'end.md after review' },
    { name: 'pre_review.md', text: 'pre_review.md' },
    { name: 'review.md', text: 'review.md' },
    { name: 'start.md', text: 'start.md' },
  ];
  const names = (words: string) => found(all, words).map(({ name }) => name);
  expect(names(' Review')).toEqual(['review.md', 'pre_review.md', 'end.md']);
  expect(names('')).toEqual([]);
  expect(names('nothing')).toEqual([]);
});
