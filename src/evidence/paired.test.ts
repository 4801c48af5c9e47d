import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_EXACT, pairedEvidence, smallestVisible, verdictOf } from './paired.ts';

const same = (count: number, value: number) => Array.from({ length: count }, () => value);

test.each([
  { differences: [], verdict: 'too-few', mean: 0, chance: 1 },
  // All five agree, and that still happens by chance once in sixteen times.
  { differences: same(5, 1), verdict: 'too-few', mean: 1, chance: 2 / 32 },
  { differences: same(6, 1), verdict: 'higher', mean: 1, chance: 2 / 64 },
  { differences: same(6, -0.1), verdict: 'lower', mean: -0.1, chance: 2 / 64 },
  { differences: [1, 1, 1, 1, 1, -1], verdict: 'open', mean: 4 / 6, chance: undefined },
  { differences: same(20, 0), verdict: 'open', mean: 0, chance: 1 },
  {
    differences: [...same(10, 0), ...same(10, 1)],
    verdict: 'higher',
    mean: 0.5,
    chance: undefined,
  },
  // 0.1 + 0.2 - 0.3 is not 0 for a computer.
  { differences: [0.1, 0.2, -0.3], verdict: 'too-few', mean: 0, chance: 1 },
])('$differences: $verdict', ({ differences, verdict, mean, chance }) => {
  const found = pairedEvidence(differences, 0.05);
  expect(verdictOf(found)).toBe(verdict);
  expect(found.mean).toBeCloseTo(mean, 12);
  if (chance !== undefined) expect(found.chance).toBeCloseTo(chance, 12);
});

test.each([
  [0.05, 6],
  [0.025, 7],
  [0.01, 8],
  [0.5, 2],
])('at a level of %d, %i pairs are the fewest that can show a difference', (level, needed) => {
  expect(pairedEvidence(same(needed, 1), level)).toMatchObject({ needed, range: { low: 1 } });
  expect(verdictOf(pairedEvidence(same(needed - 1, 1), level))).toBe('too-few');
});

test('a computed example: the range of seven differences', () => {
  const found = pairedEvidence([1, 2, 3, 4, 5, 6, 7], 0.05);
  // 127 subsets: the third smallest and the third largest mean.
  expect(found).toMatchObject({ mean: 4, range: { low: 2, high: 6 }, chance: 2 / 128 });
  expect(smallestVisible(found)).toBe(2);
});

const value = fc.integer({ min: -100, max: 100 }).map((whole) => whole / 10);
const differences = fc.array(value, { minLength: 6, maxLength: 10 });

test('the order of pairs does not matter, and changed signs turn everything around', () => {
  fc.assert(
    fc.property(differences, (given) => {
      const found = pairedEvidence(given, 0.05);
      const reversed = pairedEvidence(given.toReversed(), 0.05);
      expect(reversed.mean).toBeCloseTo(found.mean, 9);
      expect(reversed.chance).toBe(found.chance);
      const other = pairedEvidence(
        given.map((one) => -one),
        0.05,
      );
      expect(other.chance).toBe(found.chance);
      expect(other.range?.low).toBeCloseTo(-(found.range?.high ?? Number.NaN), 9);
    }),
  );
});

test('a shift of all differences shifts the range', () => {
  fc.assert(
    fc.property(differences, value, (given, shift) => {
      const before = pairedEvidence(given, 0.05);
      const after = pairedEvidence(
        given.map((one) => one + shift),
        0.05,
      );
      expect(after.range?.low).toBeCloseTo((before.range?.low ?? Number.NaN) + shift, 9);
      expect(after.range?.high).toBeCloseTo((before.range?.high ?? Number.NaN) + shift, 9);
    }),
  );
});

test('a difference shows only if chance gives it at most that often', () => {
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 40 }),
      fc.constantFrom(0.05, 0.01, 0.2),
      (given, level) => {
        const found = pairedEvidence(given, level);
        const shows = ['higher', 'lower'].includes(verdictOf(found));
        expect(shows).toBe(found.range !== undefined && found.chance <= level + 1e-9);
        if (found.range) {
          expect(found.range.low).toBeLessThanOrEqual(found.mean + 1e-9);
          expect(found.range.high).toBeGreaterThanOrEqual(found.mean - 1e-9);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('where there is no difference, at most one answer in twenty says that there is one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 6, maxLength: 9 }),
      (sizes) => {
        const patterns = 2 ** sizes.length;
        let shown = 0;
        for (let pattern = 0; pattern < patterns; pattern++) {
          const given = sizes.map((size, index) => (pattern & (2 ** index) ? size : -size));
          const verdict = verdictOf(pairedEvidence(given, 0.05));
          if (verdict === 'higher' || verdict === 'lower') shown += 1;
        }
        expect(shown / patterns).toBeLessThanOrEqual(0.05);
      },
    ),
    { numRuns: 15 },
  );
});

test('many pairs give the same answer each time, close to that of all subsets', () => {
  const many = Array.from({ length: MOST_EXACT + 24 }, (_, index) => Math.sin(index) + 0.5);
  expect(pairedEvidence(many, 0.05)).toEqual(pairedEvidence(many, 0.05));
  expect(verdictOf(pairedEvidence(many, 0.05))).toBe('higher');
  const mean = many.reduce((all, one) => all + one, 0) / many.length;
  const spread = Math.sqrt(
    many.reduce((all, one) => all + (one - mean) ** 2, 0) / (many.length - 1),
  );
  const half = (1.96 * spread) / Math.sqrt(many.length);
  const { range } = pairedEvidence(many, 0.05);
  expect(Math.abs((range?.low ?? 0) - (mean - half))).toBeLessThan(0.05);
  expect(Math.abs((range?.high ?? 0) - (mean + half))).toBeLessThan(0.05);
});
