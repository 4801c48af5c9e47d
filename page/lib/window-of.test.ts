import { expect, test } from 'vitest';
import { topOf, windowOf } from './window-of.ts';

test('draws what is visible of 7,001 rows, and knows the height of the rest', () => {
  const heights = { 0: 3_000, 1: 50 };
  const at = windowOf(heights, 7_001, 100, { top: 0, height: 800 });
  expect(at).toMatchObject({ first: 0, end: 1, above: 0 });
  expect(at.below).toBe(50 + 6_999 * 100);
  const far = windowOf(heights, 7_001, 100, { top: topOf(heights, 5_000, 100), height: 800 });
  expect(far.first).toBeLessThan(5_000);
  expect(far.end).toBeGreaterThan(5_007);
  expect(far.end - far.first).toBeLessThan(25);
  expect(far.above + far.below + (far.end - far.first) * 100).toBe(3_050 + 6_999 * 100);
  expect(windowOf({}, 0, 100, { top: 0, height: 800 })).toEqual({
    first: 0,
    end: 0,
    above: 0,
    below: 0,
  });
});
